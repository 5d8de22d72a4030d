/* One JSON object on one line, built in memory and written by one call. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The contract's limit of a line, without its newline. */
#define JSON_LINE_MAX (64u << 10)

struct json {
	char *text; /* JSON_LINE_MAX + 1 bytes, allocated */
	size_t length;
	bool comma; /* something stands before the next value */
	bool over;  /* the line is too long: it will not be written */
};

/* Begins a record of the given type. Returns 0, or -1 without memory. */
int json_begin(struct json *j, const char *type);

void json_int(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_text(struct json *j, const char *key, const char *v);

/* Opens and closes an object or array; inside an array the keys are NULL. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);

/* Ends the record, writes it to standard output and frees it. Returns 0, or -1 with errno set. */
int json_end(struct json *j);

#endif

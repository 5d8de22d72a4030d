//go:build ignore

#define _GNU_SOURCE
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(struct json *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct json *j, const char *format, ...)
{
	size_t room = JSON_LINE_MAX + 1 - j->length;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(j->text + j->length, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		j->over = true;
	else
		j->length += (size_t)n;
}

static void key(struct json *j, const char *name)
{
	if (j->comma)
		put(j, ",");
	if (name != NULL)
		put(j, "\"%s\":", name);
	j->comma = true;
}

int json_begin(struct json *j, const char *type)
{
	*j = (struct json){.text = malloc(JSON_LINE_MAX + 1)};
	if (j->text == NULL)
		return -1;
	put(j, "{");
	json_text(j, "type", type);
	return 0;
}

void json_int(struct json *j, const char *name, int64_t v)
{
	key(j, name);
	put(j, "%" PRId64, v);
}

void json_bool(struct json *j, const char *name, bool v)
{
	key(j, name);
	put(j, v ? "true" : "false");
}

/* Texts come from arguments too: whatever is not printable ASCII becomes a question mark, so the line is valid in any case. */
void json_text(struct json *j, const char *name, const char *v)
{
	key(j, name);
	put(j, "\"");
	for (; *v != '\0'; v++) {
		unsigned char c = (unsigned char)*v;
		if (c == '"' || c == '\\')
			put(j, "\\%c", c);
		else
			put(j, "%c", c < 0x20 || c > 0x7E ? '?' : c);
	}
	put(j, "\"");
}

void json_open(struct json *j, const char *name, char bracket)
{
	key(j, name);
	put(j, "%c", bracket);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	put(j, "%c", bracket);
	j->comma = true;
}

static int write_all(const char *b, size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, b, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		b += done;
		n -= (size_t)done;
	}
	return 0;
}

int json_end(struct json *j)
{
	put(j, "}\n");
	errno = EMSGSIZE;
	int rc = j->over ? -1 : write_all(j->text, j->length);
	free(j->text);
	j->text = NULL;
	return rc;
}

/* The records of the contract that both roles write. */
#ifndef RECORDS_H
#define RECORDS_H

#include "config.h"
#include "settings.h"

#define CONTRACT_VERSION 1

/* Both return 0, or -1 with the failure filled in. */
int record_describe(struct failure *f);
int record_hello(const struct config *c, struct failure *f);

/* Writes the error record and the same text to standard error. Returns the exit code. */
int record_failure(const struct failure *f);

/* Begins a record, and ends and writes it. */
int record_begin(struct json *j, const char *type, struct failure *f);
int record_end(struct json *j, struct failure *f);

#endif

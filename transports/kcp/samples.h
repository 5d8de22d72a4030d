/* Series of round-trip times: the samples file and the quantiles. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "json.h"

enum { SAMPLES_SPARSE = 1, SAMPLES_LOADED = 2 };

/* Creates path, which must not exist, with the RTTs in ns of all connections. Returns 0, or -1 with the failure filled in. */
int samples_write(const char *path, int kind, uint32_t connections, const uint64_t *ns, size_t count, struct failure *f);

/* Sorts ns and writes n, p50_ns, p95_ns and p99_ns under key; writes nothing for an empty series. */
void samples_quantiles(struct json *j, const char *key, uint64_t *ns, size_t count);

#endif

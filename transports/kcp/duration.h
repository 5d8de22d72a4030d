/* Durations as the contract writes them: 450s, 1m30s, 200ms. */
#ifndef DURATION_H
#define DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a sequence of decimal numbers with unit h, m, s, ms, us or ns into nanoseconds. */
bool duration_parse(const char *text, int64_t *ns);

#endif

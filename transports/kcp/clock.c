//go:build ignore

#define _GNU_SOURCE
#include "clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail: the clock exists and ts is ours */
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint32_t clock_ms(uint64_t ns) { return (uint32_t)(ns / NS_PER_MS); }

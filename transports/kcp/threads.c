//go:build ignore

#define _GNU_SOURCE
#include "threads.h"

#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "records.h"

void threads_join(pthread_t id, uint64_t until, struct failure *f)
{
	struct timespec at = {.tv_sec = (time_t)(until / NS_PER_S), .tv_nsec = (long)(until % NS_PER_S)};
	if (pthread_clockjoin_np(id, NULL, CLOCK_MONOTONIC, &at) == 0)
		return;
	fail(f, FAIL_FAILED, "a thread hangs");
	_exit(record_failure(f));
}

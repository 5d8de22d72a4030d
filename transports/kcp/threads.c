//go:build ignore

#define _GNU_SOURCE
#include "threads.h"

#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "records.h"

/* The time by the wall clock, the only one that pthread_timedjoin_np knows, when left ns will have passed. */
static struct timespec wall(uint64_t left)
{
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at); /* cannot fail: the clock exists and at is ours */
	uint64_t ns = (uint64_t)at.tv_nsec + left;
	at.tv_sec += (time_t)(ns / NS_PER_S);
	at.tv_nsec = (long)(ns % NS_PER_S);
	return at;
}

void threads_join(pthread_t id, uint64_t until, struct failure *f)
{
	uint64_t now = clock_ns();
	do { /* again when the wall clock was set forward meanwhile */
		struct timespec at = wall(now < until ? until - now : 0);
		if (pthread_timedjoin_np(id, NULL, &at) == 0)
			return;
		now = clock_ns();
	} while (now < until);
	fail(f, FAIL_FAILED, "a thread hangs");
	_exit(record_failure(f));
}

/* A client thread with its share of the connections. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>

#include "control.h"
#include "lane.h"

/* What the workers and the main thread share. */
struct client {
	const struct config *config;
	struct control *control;
	unsigned char *fill; /* payload bytes of the filling */
	atomic_llong ready, done; /* lanes at the barrier, lanes with their last echo */
	atomic_ullong start;      /* CLOCK_MONOTONIC of the barrier's release, ns; 0: not yet */
	atomic_bool failed;       /* a worker has a failure; it is safe to read once the worker is joined */
};

struct worker {
	struct loop loop;
	struct client *client;
	struct lane *lanes;
	int64_t count;
	pthread_t thread;
	bool running, released;
	uint64_t updated_ns;
	struct traffic traffic;
	struct failure failure;
	unsigned char *out, *in; /* one message each */
	char datagram[SESSION_DATAGRAM_MAX];
};

/* Prepares the loop and buffers. lanes are open. Returns 0, or -1 with the failure filled in. */
int worker_open(struct worker *w, struct client *c, struct lane *lanes, int64_t count, struct failure *f);
void worker_close(struct worker *w);

/* Starts the thread, with its own stack of modest size. */
int worker_start(struct worker *w, struct failure *f);

/* Called by a lane: notes the failure and tells the main thread. */
void worker_fail(struct worker *w);

#endif

/* An event loop over epoll: one per worker thread. */
#ifndef LOOP_H
#define LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

/* Something with a descriptor. ready is called when it can be read; it need not read everything. */
struct source {
	int fd;
	void (*ready)(struct source *s);
};

struct loop {
	int epoll;
	struct source wake; /* eventfd: makes the loop look around from another thread */
	atomic_bool stop;
	void *user;
	int (*wait_ms)(void *user); /* how long the loop may sleep; -1: until something happens */
	void (*tick)(void *user);   /* called after every round of events */
};

/* The caller has filled in user, wait_ms and tick. Returns 0, or -1 with the failure filled in. */
int loop_open(struct loop *l, struct failure *f);
void loop_close(struct loop *l);

int loop_add(struct loop *l, struct source *s, struct failure *f);

/* Runs until loop_stop. */
void loop_run(struct loop *l);

/* Both may be called from any thread. */
void loop_wake(struct loop *l);
void loop_stop(struct loop *l);

#endif

//go:build ignore

#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "burst.h"
#include "clock.h"
#include "core.h"
#include "payload.h"

enum {
	READS = 256,     /* datagrams taken from one socket before the others have their turn (published) */
	TICK_MS = 1,     /* sleep of a worker with many connections (published) */
};

#define UPDATE_NS (CORE_INTERVAL_MS * (uint64_t)NS_PER_MS)

void worker_fail(struct worker *w)
{
	atomic_store(&w->client->failed, true);
	control_call(w->client->control);
}

static void drain(struct lane *l)
{
	if (config_one(l->worker->client->config))
		single_drain(l);
	else
		concurrent_drain(l);
	if (l->dirty)
		lane_flush(l, clock_ns());
}

/* With the plain API every datagram is acknowledged by itself and before its echo is verified, as published; with the batch API all that
 * are ready are read first, so that one flush serves them. */
static void take_datagram(struct lane *l, size_t size)
{
	const struct config *c = l->worker->client->config;
	uint64_t now = clock_ns();
	session_input(&l->session, l->worker->datagram, size, now);
	l->dirty = true;
	if (c->batch)
		return;
	lane_flush(l, now);
	if (!config_one(c))
		concurrent_drain(l);
}

static void readable(struct source *s)
{
	struct lane *l = (struct lane *)s;
	struct worker *w = l->worker;
	for (int i = 0; i < READS && w->failure.kind == FAIL_NONE; i++) {
		union address from;
		socklen_t size = sizeof from;
		ssize_t n = recvfrom(s->fd, w->datagram, sizeof w->datagram, 0, &from.any, &size);
		w->traffic.syscalls++;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n > 0 && address_equal(&from, &l->session.peer))
			take_datagram(l, (size_t)n);
	}
	drain(l);
}

/* Moves the clocks of the sessions on. One session is flushed at every turn, many only every interval, as published. */
static void update(struct worker *w)
{
	uint64_t now = clock_ns();
	bool one = config_one(w->client->config);
	if (!one && now - w->updated_ns < UPDATE_NS)
		return;
	w->updated_ns = now;
	for (int64_t i = 0; i < w->count; i++) {
		struct lane *l = &w->lanes[i];
		if (one)
			lane_flush(l, now);
		else
			session_update(&l->session, now);
		if (session_dead(&l->session)) {
			fail(&w->failure, FAIL_FAILED, "connection %" PRIu64 ": %s", l->index,
			     l->session.error != 0 ? strerror(l->session.error) : "a segment was sent 20 times without acknowledgement");
			worker_fail(w);
		}
	}
}

static void tick(void *user)
{
	struct worker *w = user;
	w->traffic.syscalls++; /* the loop's own */
	if (w->failure.kind != FAIL_NONE)
		return;
	if (!w->released && atomic_load_explicit(&w->client->start, memory_order_acquire) != 0) {
		w->released = true;
		for (int64_t i = 0; i < w->count; i++)
			lane_release(&w->lanes[i]);
	}
	update(w);
}

static int wait_ms(void *user)
{
	const struct worker *w = user;
	if (w->failure.kind != FAIL_NONE)
		return -1;
	return config_one(w->client->config) ? session_wait_ms(&w->lanes[0].session, clock_ns()) : TICK_MS;
}

int worker_open(struct worker *w, struct client *c, struct lane *lanes, int64_t count, struct failure *f)
{
	size_t payload = (size_t)c->config->payload;
	w->client = c;
	w->lanes = lanes;
	w->count = count;
	w->loop.user = w;
	w->loop.wait_ms = wait_ms;
	w->loop.tick = tick;
	w->out = malloc(payload);
	w->in = malloc(payload);
	if (w->out == NULL || w->in == NULL)
		return fail(f, FAIL_FAILED, "worker: out of memory");
	payload_build(w->out, payload, 0, 0);
	if (loop_open(&w->loop, f) < 0)
		return -1;
	for (int64_t i = 0; i < count; i++) {
		lanes[i].worker = w;
		lanes[i].session.traffic = &w->traffic;
		lanes[i].source.ready = readable;
		if (loop_add(&w->loop, &lanes[i].source, f) < 0)
			return -1;
	}
	return 0;
}

void worker_close(struct worker *w)
{
	loop_close(&w->loop);
	free(w->out);
	free(w->in);
}

static void *run(void *user)
{
	struct worker *w = user;
	for (int64_t i = 0; i < w->count; i++)
		lane_begin(&w->lanes[i]);
	loop_run(&w->loop);
	return NULL;
}

int worker_start(struct worker *w, struct failure *f)
{
	errno = pthread_create(&w->thread, NULL, run, w);
	if (errno != 0)
		return fail_errno(f, "worker thread");
	w->running = true;
	return 0;
}

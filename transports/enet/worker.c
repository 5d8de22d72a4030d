//go:build ignore

#define _GNU_SOURCE
#include "../kcp/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../kcp/burst.h"
#include "../kcp/clock.h"
#include "../kcp/payload.h"
#include "core.h"

void worker_fail(struct worker *w)
{
	atomic_store(&w->client->failed, true);
	control_call(w->client->control);
}

/* Takes what has arrived. A server that leaves owes its echoes; one that does not answer any more is a failure of the path. */
static void turn(struct lane *l)
{
	struct worker *w = l->worker;
	ENetEvent e = {0};
	if (w->failure.kind != FAIL_NONE)
		return;
	if (session_service(l->session.host, &w->traffic) < 0)
		fail_errno(&w->failure, "connection %" PRIu64, l->index);
	else if (config_one(w->client->config))
		single_drain(l);
	else
		concurrent_drain(l);
	if (w->failure.kind == FAIL_NONE && enet_host_check_events(l->session.host, &e) > 0 && e.type == ENET_EVENT_TYPE_DISCONNECT)
		fail(&w->failure, e.data != 0 ? FAIL_VERIFICATION : FAIL_FAILED, "connection %" PRIu64 " message %" PRIu64 ": %s", l->index, l->next,
		     e.data != 0 ? "the server left" : "the server does not acknowledge any more");
	if (w->failure.kind != FAIL_NONE)
		worker_fail(w);
}

static void readable(struct source *s) { turn((struct lane *)s); }

static void tick(void *user)
{
	struct worker *w = user;
	uint64_t now = clock_ns();
	w->traffic.syscalls++; /* the loop's own */
	if (!w->released && atomic_load_explicit(&w->client->start, memory_order_acquire) != 0) {
		w->released = true;
		for (int64_t i = 0; i < w->count; i++)
			lane_release(&w->lanes[i]);
	}
	if (now - w->updated_ns < CORE_TICK_MS * (uint64_t)NS_PER_MS)
		return;
	w->updated_ns = now;
	enet_uint32 ms = enet_time_get();
	for (int64_t i = 0; i < w->count; i++)
		if (session_due(&w->lanes[i].session, ms))
			turn(&w->lanes[i]);
}

static int wait_ms(void *user)
{
	(void)user;
	return CORE_TICK_MS;
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

/* ENet counts the datagrams of a host; each was one system call. */
static void *run(void *user)
{
	struct worker *w = user;
	for (int64_t i = 0; i < w->count; i++)
		lane_begin(&w->lanes[i]);
	loop_run(&w->loop);
	for (int64_t i = 0; i < w->count; i++) {
		const ENetHost *host = w->lanes[i].session.host;
		w->traffic.datagrams += host->totalSentPackets;
		w->traffic.syscalls += (int64_t)host->totalSentPackets + host->totalReceivedPackets;
	}
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

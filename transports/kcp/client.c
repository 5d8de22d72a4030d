//go:build ignore

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "payload.h"
#include "report.h"
#include "roles.h"
#include "socket.h"
#include "threads.h"

/* How long the connections stay open after the last echo, outside the timer, for one echo too many to show up. */
#define SURPLUS_NS (25 * (uint64_t)NS_PER_MS)

static int open_lane(struct run *r, int64_t i, struct failure *f)
{
	const struct config *c = r->client.config;
	struct lane *l = &r->lanes[i];
	union address local = address_wildcard(&c->addr, socket_source_port(c, i));
	l->index = (uint64_t)i;
	l->source.fd = l->session.fd = socket_open(&local, false, c, f);
	if (l->source.fd < 0)
		return -1;
	l->session.peer = c->addr;
	if (session_open(&l->session, (uint32_t)(CORE_CONV_FIRST + i), c) < 0)
		return fail(f, FAIL_FAILED, "connection %lld: out of memory", (long long)i);
	l->sparse = r->sparse + i * c->samples;
	if (r->loaded != NULL) {
		l->loaded = r->loaded + i * c->messages;
		l->ring = r->rings + i * c->window;
	}
	return 0;
}

static int open_lanes(struct run *r, struct failure *f)
{
	int64_t n = r->client.config->connections;
	uint64_t began = clock_ns();
	for (int64_t i = 0; i < n; i++)
		if (open_lane(r, i, f) < 0)
			return -1;
	r->setup_ns = clock_ns() - began;
	return 0;
}

/* Everything that the measurement writes into is allocated before it begins. */
static int allocate(struct run *r, struct failure *f)
{
	const struct config *c = r->client.config;
	size_t n = (size_t)c->connections, payload = (size_t)c->payload;
	int64_t workers = config_one(c) ? 1 : settings_workers(c);
	r->crew_size = workers < c->connections ? workers : c->connections;
	r->lanes = calloc(n, sizeof *r->lanes);
	r->crew = calloc((size_t)r->crew_size, sizeof *r->crew);
	r->sparse = calloc(n * (size_t)c->samples + 1, sizeof *r->sparse);
	r->client.fill = malloc(payload);
	if (c->suite == SUITE_LOADED) {
		r->loaded = calloc(n * (size_t)c->messages, sizeof *r->loaded);
		r->rings = calloc(n * (size_t)c->window, sizeof *r->rings);
	}
	bool loaded = c->suite != SUITE_LOADED || (r->loaded != NULL && r->rings != NULL);
	if (r->lanes == NULL || r->crew == NULL || r->sparse == NULL || r->client.fill == NULL || !loaded)
		return fail(f, FAIL_FAILED, "client: out of memory");
	memset(r->client.fill, PAYLOAD_FILL, payload);
	for (size_t i = 0; i < n; i++)
		r->lanes[i].source.fd = -1;
	for (int64_t i = 0; i < r->crew_size; i++)
		r->crew[i].loop.epoll = r->crew[i].loop.wake.fd = -1;
	return 0;
}

/* Gives each worker its share of the connections, the first ones one more where it does not come out even. */
static int open_crew(struct run *r, struct failure *f)
{
	int64_t n = r->client.config->connections, first = 0;
	for (int64_t i = 0; i < r->crew_size; i++) {
		int64_t count = n / r->crew_size + (i < n % r->crew_size ? 1 : 0);
		if (worker_open(&r->crew[i], &r->client, r->lanes + first, count, f) < 0)
			return -1;
		first += count;
	}
	return 0;
}

/* Sleeps until counter has reached all connections. Returns 0, or -1 with the failure filled in. */
static int await(struct run *r, atomic_llong *counter, struct failure *f)
{
	while (atomic_load(counter) < r->client.config->connections) {
		enum control_event e = control_wait(r->client.control, 0);
		if (atomic_load(&r->client.failed))
			return -1; /* the worker knows why */
		if (e == CONTROL_SIGNAL)
			return fail(f, FAIL_INTERRUPTED, "run interrupted by a signal");
		if (e == CONTROL_DEADLINE)
			return fail(f, FAIL_DEADLINE, "client has no result after %s", r->client.config->deadline_text);
	}
	return 0;
}

static int surplus(struct run *r, struct failure *f)
{
	uint64_t until = clock_ns() + SURPLUS_NS;
	while (clock_ns() < until && !atomic_load(&r->client.failed))
		if (control_wait(r->client.control, until) == CONTROL_SIGNAL)
			return fail(f, FAIL_INTERRUPTED, "run interrupted by a signal");
	return atomic_load(&r->client.failed) ? -1 : 0;
}

static int measure(struct run *r, struct failure *f)
{
	for (int64_t i = 0; i < r->crew_size; i++)
		if (worker_start(&r->crew[i], f) < 0)
			return -1;
	if (await(r, &r->client.ready, f) < 0)
		return -1;
	r->start_ns = clock_ns();
	atomic_store_explicit(&r->client.start, r->start_ns, memory_order_release);
	for (int64_t i = 0; i < r->crew_size; i++)
		loop_wake(&r->crew[i].loop);
	if (report_start(r, f) < 0 || await(r, &r->client.done, f) < 0)
		return -1;
	return surplus(r, f);
}

/* A wrong echo weighs more than its consequences elsewhere. */
static void take_over(const struct worker *w, struct failure *f)
{
	if (w->failure.kind == FAIL_VERIFICATION && f->kind != FAIL_VERIFICATION)
		*f = w->failure;
	else if (w->failure.kind != FAIL_NONE)
		fail(f, w->failure.kind, "%s", w->failure.message);
}

/* Ends the threads and takes over the failure of the first worker that has one. */
static void join(struct run *r, struct failure *f)
{
	uint64_t until = clock_ns() + THREADS_GRACE_NS;
	for (int64_t i = 0; i < r->crew_size; i++)
		if (r->crew[i].running)
			loop_stop(&r->crew[i].loop);
	for (int64_t i = 0; i < r->crew_size; i++)
		if (r->crew[i].running) {
			threads_join(r->crew[i].thread, until, f);
			take_over(&r->crew[i], f);
		}
}

static void release(struct run *r)
{
	for (int64_t i = 0; r->crew != NULL && i < r->crew_size; i++)
		worker_close(&r->crew[i]);
	for (int64_t i = 0; r->lanes != NULL && i < r->client.config->connections; i++) {
		session_close(&r->lanes[i].session);
		if (r->lanes[i].source.fd >= 0)
			close(r->lanes[i].source.fd);
	}
	free(r->lanes);
	free(r->crew);
	free(r->sparse);
	free(r->loaded);
	free(r->rings);
	free(r->client.fill);
}

int client_role(const struct config *c, uint64_t began, struct failure *f)
{
	struct control control;
	struct run r = {.client = {.config = c, .control = &control}};
	int rc = control_open(&control, false, began + (uint64_t)c->deadline_ns, f);
	if (rc == 0 && (allocate(&r, f) < 0 || open_lanes(&r, f) < 0 || open_crew(&r, f) < 0 || report_connected(&r, f) < 0))
		rc = -1;
	if (rc == 0) {
		rc = measure(&r, f);
		join(&r, f);
	}
	if (rc == 0 && f->kind == FAIL_NONE)
		rc = report_result(&r, f);
	release(&r);
	control_close(&control);
	return rc;
}

//go:build ignore

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "clock.h"
#include "control.h"
#include "listener.h"
#include "records.h"
#include "roles.h"
#include "socket.h"
#include "threads.h"

/* A thread with its share of the listeners: number i, i + threads, ... */
struct thread {
	struct loop loop;
	struct listener *listeners;
	int64_t count, step; /* listeners in all, and between two of this thread's */
	pthread_t id;
	bool running;
};

struct server {
	const struct config *config;
	struct shared *shared;
	struct listener *listeners;
	struct thread *threads;
	int64_t threads_count;
};

static void tick(void *user)
{
	struct thread *t = user;
	for (int64_t i = 0; i < t->count; i += t->step)
		listener_tick(&t->listeners[i]);
}

static int wait_ms(void *user)
{
	const struct thread *t = user;
	int least = -1;
	for (int64_t i = 0; i < t->count; i += t->step) {
		int ms = listener_wait_ms(&t->listeners[i]);
		if (least < 0 || (ms >= 0 && ms < least))
			least = ms;
	}
	return least;
}

static void *run(void *user)
{
	struct thread *t = user;
	loop_run(&t->loop);
	return NULL;
}

static int allocate(struct server *s, struct failure *f)
{
	int64_t workers = config_one(s->config) ? 1 : settings_workers(s->config), n = s->config->listeners;
	s->threads_count = workers < n ? workers : n;
	s->shared = calloc(1, sizeof *s->shared);
	s->listeners = calloc((size_t)n, sizeof *s->listeners);
	s->threads = calloc((size_t)s->threads_count, sizeof *s->threads);
	if (s->shared == NULL || s->listeners == NULL || s->threads == NULL)
		return fail(f, FAIL_FAILED, "server: out of memory");
	s->shared->echo.config = s->config;
	for (int64_t i = 0; i < n; i++)
		s->listeners[i].source.fd = -1;
	for (int64_t i = 0; i < s->threads_count; i++)
		s->threads[i].loop.epoll = s->threads[i].loop.wake.fd = -1;
	return 0;
}

/* Opens all listeners on one port; with port 0 the first takes a free one. */
static int listen_all(struct server *s, union address *at, struct failure *f)
{
	*at = s->config->addr;
	for (int64_t i = 0; i < s->config->listeners; i++) {
		if (listener_open(&s->listeners[i], s->shared, (int)i, at, f) < 0)
			return -1;
		if (i == 0 && socket_address(s->listeners[0].source.fd, at, f) < 0)
			return -1;
	}
	return 0;
}

static int start_threads(struct server *s, struct failure *f)
{
	for (int64_t i = 0; i < s->threads_count; i++) {
		struct thread *t = &s->threads[i];
		t->listeners = s->listeners + i;
		t->count = s->config->listeners - i;
		t->step = s->threads_count;
		t->loop.user = t;
		t->loop.wait_ms = wait_ms;
		t->loop.tick = tick;
		if (loop_open(&t->loop, f) < 0)
			return -1;
		for (int64_t k = 0; k < t->count; k += t->step)
			if (loop_add(&t->loop, &t->listeners[k].source, f) < 0)
				return -1;
		errno = pthread_create(&t->id, NULL, run, t);
		if (errno != 0)
			return fail_errno(f, "server thread");
		t->running = true;
	}
	return 0;
}

static void stop_threads(struct server *s, struct failure *f)
{
	uint64_t until = clock_ns() + THREADS_GRACE_NS;
	for (int64_t i = 0; i < s->threads_count; i++)
		if (s->threads[i].running)
			loop_stop(&s->threads[i].loop);
	for (int64_t i = 0; i < s->threads_count; i++) {
		if (s->threads[i].running)
			threads_join(s->threads[i].id, until, f);
		s->threads[i].running = false;
	}
}

static int ready(const union address *at, struct failure *f)
{
	char text[ADDRESS_TEXT];
	struct json j;
	address_format(at, text);
	if (record_begin(&j, "ready", f) < 0)
		return -1;
	json_text(&j, "addr", text);
	return record_end(&j, f);
}

static int done(const struct server *s, struct failure *f)
{
	int64_t n = s->config->listeners, connections = 0, messages = 0;
	const struct listener *first = NULL;
	struct json j;
	if (record_begin(&j, "done", f) < 0)
		return -1;
	json_open(&j, "per_listener", '[');
	for (int64_t i = 0; i < n; i++) {
		const struct listener *l = &s->listeners[i];
		json_int(&j, NULL, l->messages);
		connections += l->connections;
		messages += l->messages;
		if (l->first_ns != 0 && (first == NULL || l->first_ns < first->first_ns))
			first = l;
	}
	json_close(&j, ']');
	json_int(&j, "connections", connections);
	json_int(&j, "messages", messages);
	if (first != NULL)
		settings_write(&j, s->config, &first->granted);
	return record_end(&j, f);
}

static int serve(struct server *s, struct control *control, struct failure *f)
{
	union address at;
	if (allocate(s, f) < 0 || listen_all(s, &at, f) < 0 || start_threads(s, f) < 0 || ready(&at, f) < 0)
		return -1;
	enum control_event e;
	do
		e = control_wait(control, 0);
	while (e == CONTROL_CALLED || e == CONTROL_TIMEOUT);
	if (e == CONTROL_DEADLINE)
		fail(f, FAIL_DEADLINE, "server was not stopped within %s", s->config->deadline_text);
	stop_threads(s, f);
	return e == CONTROL_DEADLINE ? -1 : done(s, f);
}

int server_role(const struct config *c, uint64_t began, struct failure *f)
{
	struct control control;
	struct server s = {.config = c};
	int rc = control_open(&control, c->stop_on_eof, began + (uint64_t)c->deadline_ns, f);
	if (rc == 0)
		rc = serve(&s, &control, f);
	bool allocated = s.shared != NULL && s.listeners != NULL && s.threads != NULL;
	if (allocated)
		stop_threads(&s, f);
	for (int64_t i = 0; allocated && i < s.threads_count; i++)
		loop_close(&s.threads[i].loop);
	for (int64_t i = 0; allocated && i < c->listeners; i++)
		listener_close(&s.listeners[i]);
	free(s.listeners);
	free(s.threads);
	free(s.shared);
	control_close(&control);
	return rc;
}

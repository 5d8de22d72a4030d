//go:build ignore

#define _GNU_SOURCE
#include "listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admit.h"
#include "clock.h"
#include "core.h"
#include "socket.h"

enum {
	READS = 256, /* datagrams taken in one turn (published) */
	TICK_MS = 1, /* sleep of a thread with many connections (published) */
};

#define UPDATE_NS (CORE_INTERVAL_MS * (uint64_t)NS_PER_MS)

/* Ends a conversation. Its entry stays, so late datagrams of the peer find it closed. */
static void drop(struct peer *p, const char *why)
{
	char from[ADDRESS_TEXT];
	address_format(&p->session.peer, from);
	fprintf(stderr, "connection from %s ended after %lld messages: %s\n", from, (long long)p->received, why);
	session_close(&p->session);
	p->dirty = false;
}

static void echo(struct listener *l, struct peer *p)
{
	int64_t sent = echo_ready(&l->shared->echo, p, l->buffer);
	if (sent < 0)
		drop(p, "message out of order with the rules, or a fault on request");
	else
		l->messages += sent;
}

static struct peer *welcome(struct listener *l, const union address *from, size_t size)
{
	const struct config *c = l->shared->echo.config;
	uint32_t conv;
	if (!admit(l->datagram, size, from, c, &conv) || atomic_exchange(&l->shared->taken[conv - CORE_CONV_FIRST], true))
		return NULL;
	struct peer *p = peers_add(&l->peers, from);
	if (p == NULL)
		return NULL;
	p->session.fd = l->source.fd;
	p->session.traffic = &l->traffic;
	if (session_open(&p->session, conv, c) < 0)
		return NULL;
	l->connections++;
	if (l->first_ns == 0) {
		l->first_ns = clock_ns();
		session_granted(&p->session, &l->granted);
	}
	return p;
}

/* Echoes what is ready, and acknowledges what was received even when nothing goes back. */
static void answer(struct listener *l, struct peer *p)
{
	echo(l, p);
	if (p->dirty)
		session_flush(&p->session, clock_ns());
	p->dirty = false;
}

/* With the plain API every datagram is answered by itself: its acknowledgement travels with the first echo, or alone when there is none.
 * With the batch API the peers wait in a list until everything that is ready has been read. */
void listener_take(struct listener *l, const union address *from, size_t size)
{
	struct peer *p = peers_find(&l->peers, from);
	if (p == NULL)
		p = welcome(l, from, size);
	if (p == NULL || p->session.kcp == NULL)
		return;
	session_input(&p->session, l->datagram, size, clock_ns());
	bool listed = p->dirty;
	p->dirty = true;
	if (!l->shared->echo.config->batch) {
		answer(l, p);
	} else if (!listed) {
		p->next_dirty = l->dirty;
		l->dirty = p;
	}
}

void listener_serve(struct listener *l)
{
	while (l->dirty != NULL) {
		struct peer *p = l->dirty;
		l->dirty = p->next_dirty;
		answer(l, p);
	}
}

static void readable(struct source *s)
{
	struct listener *l = (struct listener *)s;
	for (int i = 0; i < READS; i++) {
		union address from;
		socklen_t size = sizeof from;
		ssize_t n = recvfrom(s->fd, l->datagram, sizeof l->datagram, 0, &from.any, &size);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n > 0)
			listener_take(l, &from, (size_t)n);
	}
	listener_serve(l);
}

int listener_open(struct listener *l, struct shared *shared, int number, const union address *at, struct failure *f)
{
	const struct config *c = shared->echo.config;
	l->shared = shared;
	l->number = number;
	l->source.ready = readable;
	l->buffer = malloc((size_t)c->payload);
	if (l->buffer == NULL)
		return fail(f, FAIL_FAILED, "listener: out of memory");
	l->source.fd = socket_open(at, c->listeners > 1, c, f);
	return l->source.fd < 0 ? -1 : 0;
}

void listener_close(struct listener *l)
{
	peers_free(&l->peers);
	free(l->buffer);
	if (l->source.fd >= 0)
		close(l->source.fd);
	l->source.fd = -1;
}

/* The one peer of the single suites is flushed at every turn, many only every interval, as published. */
void listener_tick(struct listener *l)
{
	uint64_t now = clock_ns();
	bool one = config_one(l->shared->echo.config);
	if (!one && now - l->updated_ns < UPDATE_NS)
		return;
	l->updated_ns = now;
	for (size_t i = 0; i < l->peers.used; i++) {
		struct peer *p = l->peers.all[i];
		if (p->session.kcp == NULL)
			continue;
		if (one)
			session_flush(&p->session, now);
		else
			session_update(&p->session, now);
		if (session_dead(&p->session))
			drop(p, p->session.error != 0 ? strerror(p->session.error) : "a segment was sent 20 times without acknowledgement");
		else
			echo(l, p);
	}
}

int listener_wait_ms(const struct listener *l)
{
	if (l->peers.used == 0)
		return -1;
	if (!config_one(l->shared->echo.config))
		return TICK_MS;
	const struct session *s = &l->peers.all[0]->session;
	return s->kcp == NULL ? -1 : session_wait_ms(s, clock_ns());
}

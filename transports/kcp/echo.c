//go:build ignore

#include "echo.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

static int64_t send_one(struct peer *p, const unsigned char *b, int size)
{
	if (session_queue(&p->session, b, (size_t)size) < 0)
		return -1;
	session_flush(&p->session, clock_ns());
	p->dirty = false;
	return 1;
}

/* The message that is flipped, repeated, dropped or overtaken: the middle one of the burst, so that a window is open around it. A swap
 * needs a successor. */
static int64_t target(const struct config *c)
{
	int64_t middle = c->messages / 2;
	if (c->fault == FAULT_CUT)
		return c->fault_at;
	if (c->fault == FAULT_SWAP && middle > c->messages - 2)
		middle = c->messages > 1 ? c->messages - 2 : 0;
	return c->warmup + c->samples + middle;
}

static int64_t hold(struct peer *p, const unsigned char *b, int size)
{
	p->held = malloc((size_t)size + 1);
	if (p->held == NULL)
		return -1;
	memcpy(p->held, b, (size_t)size);
	p->held_size = size;
	return 0;
}

/* Sends the message after the held one, then that. */
static int64_t swap(struct peer *p, const unsigned char *b, int size)
{
	unsigned char *held = p->held;
	p->held = NULL;
	int64_t first = send_one(p, b, size), second = send_one(p, held, p->held_size);
	free(held);
	return first < 0 || second < 0 ? -1 : 2;
}

static int64_t misbehave(struct echo *e, struct peer *p, unsigned char *b, int size)
{
	switch (e->config->fault) {
	case FAULT_FLIP:
		if (size > 0)
			b[size - 1] ^= 1;
		return send_one(p, b, size);
	case FAULT_REPEAT:
		return send_one(p, b, size) < 0 || send_one(p, b, size) < 0 ? -1 : 2;
	case FAULT_DROP:
		return 0;
	case FAULT_SWAP:
		return hold(p, b, size);
	default: /* cut */
		return -1;
	}
}

static int64_t answer(struct echo *e, struct peer *p, unsigned char *b, int size)
{
	if (e->config->fault == FAULT_NONE)
		return send_one(p, b, size);
	if (p->held != NULL)
		return swap(p, b, size);
	if (p->received - 1 == target(e->config) && !atomic_exchange(&e->fault_spent, true))
		return misbehave(e, p, b, size);
	return send_one(p, b, size);
}

/* One message at a time, each with a flush of its own. */
static int64_t each(struct echo *e, struct peer *p, unsigned char *buffer)
{
	int64_t sent = 0;
	while (session_has_room(&p->session)) {
		int size = session_receive(&p->session, buffer, (size_t)e->config->payload);
		if (size == SESSION_EMPTY)
			return sent;
		p->received++;
		int64_t n = size < 0 ? -1 : answer(e, p, buffer, size);
		if (n < 0)
			return -1;
		sent += n;
	}
	return sent;
}

/* Up to ECHO_BATCH messages, then one flush. */
static int64_t batch(struct echo *e, struct peer *p, unsigned char *buffer)
{
	int n;
	for (n = 0; n < ECHO_BATCH && session_has_room(&p->session); n++) {
		int size = session_receive(&p->session, buffer, (size_t)e->config->payload);
		if (size == SESSION_EMPTY)
			break;
		p->received++;
		if (size < 0 || session_queue(&p->session, buffer, (size_t)size) < 0)
			return -1;
	}
	if (n > 0) {
		session_flush(&p->session, clock_ns());
		p->dirty = false;
	}
	return n;
}

int64_t echo_ready(struct echo *e, struct peer *p, unsigned char *buffer)
{
	if (!e->config->batch || e->config->fault != FAULT_NONE)
		return each(e, p, buffer);
	int64_t sent = 0, n;
	do {
		n = batch(e, p, buffer);
		if (n < 0)
			return -1;
		sent += n;
	} while (n == ECHO_BATCH);
	return sent;
}

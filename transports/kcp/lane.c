//go:build ignore

#define _GNU_SOURCE
#include "lane.h"

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "payload.h"
#include "worker.h"

static const struct config *config(const struct lane *l) { return l->worker->client->config; }

static void broken(struct lane *l, enum failure_kind kind, const char *why)
{
	fail(&l->worker->failure, kind, "connection %" PRIu64 " message %" PRIu64 ": %s", l->index, l->next, why);
	worker_fail(l->worker);
}

void lane_flush(struct lane *l, uint64_t ns)
{
	session_flush(&l->session, ns);
	l->dirty = false;
}

/* Queues the next message; the caller flushes. False after a failure. */
static bool queue(struct lane *l)
{
	struct worker *w = l->worker;
	payload_number(w->out, l->index, l->sent++);
	if (session_queue(&l->session, w->out, (size_t)config(l)->payload) == 0)
		return true;
	broken(l, FAIL_FAILED, "send: the core refuses the message");
	return false;
}

static void send_round(struct lane *l)
{
	l->began_ns = clock_ns();
	if (queue(l))
		lane_flush(l, l->began_ns);
}

static void arrive(struct lane *l, enum lane_phase phase, atomic_llong *counter)
{
	struct client *c = l->worker->client;
	l->phase = phase;
	if (atomic_fetch_add(counter, 1) + 1 == c->config->connections)
		control_call(c->control);
}

void lane_begin(struct lane *l)
{
	if (config(l)->warmup + config(l)->samples > 0)
		send_round(l);
	else
		arrive(l, LANE_READY, &l->worker->client->ready);
}

void lane_release(struct lane *l)
{
	l->phase = LANE_BURST;
	lane_fill(l);
}

/* The round of the echo just verified has ended. */
static void end_round(struct lane *l, uint64_t now)
{
	const struct config *c = config(l);
	int64_t sample = (int64_t)l->next - 1 - c->warmup;
	if (sample >= 0)
		l->sparse[sample] = now - l->began_ns;
	if (sample + 1 == c->samples)
		arrive(l, LANE_READY, &l->worker->client->ready);
	else
		send_round(l);
}

static void stamp_send(struct lane *l)
{
	uint64_t now = clock_ns();
	l->sent_ns += now;
	if (l->ring != NULL)
		l->ring[l->burst_sent % config(l)->window] = now;
	l->burst_sent++;
}

/* Ordered delivery makes the slot of the ring the echo's own. */
static void stamp_echo(struct lane *l, uint64_t now)
{
	l->echoed_ns += now;
	l->end_ns = now;
	if (l->ring != NULL)
		l->loaded[l->burst_done] = now - l->ring[l->burst_done % config(l)->window];
	if (++l->burst_done == config(l)->messages)
		arrive(l, LANE_DONE, &l->worker->client->done);
}

static bool verify(struct lane *l, int size)
{
	const struct config *c = config(l);
	char why[128];
	if (l->phase == LANE_READY || l->phase == LANE_DONE || l->next == l->sent)
		snprintf(why, sizeof why, "surplus echo of %d bytes after the last one", size);
	else if (size == SESSION_TOO_LONG)
		snprintf(why, sizeof why, "echo is longer than the %" PRId64 " bytes sent", c->payload);
	else if (size != c->payload)
		snprintf(why, sizeof why, "echo has %d bytes instead of %" PRId64, size, c->payload);
	else if (payload_check(l->worker->in, (size_t)size, l->index, l->next, l->worker->client->fill, why, sizeof why) == 0)
		return true;
	broken(l, FAIL_VERIFICATION, why);
	return false;
}

bool lane_take(struct lane *l)
{
	struct worker *w = l->worker;
	if (w->failure.kind != FAIL_NONE)
		return false;
	int size = session_receive(&l->session, w->in, (size_t)config(l)->payload);
	if (size == SESSION_EMPTY || !verify(l, size))
		return false;
	uint64_t now = clock_ns();
	l->next++;
	if (l->phase == LANE_ROUNDS)
		end_round(l, now);
	else
		stamp_echo(l, now);
	return true;
}

/* Places that are free in the window of the burst. With the batch API a connection of many has BATCH messages under way at most:
 * it sends as many as it has just received (transports/wire/README.md). */
static int64_t places(const struct lane *l)
{
	const struct config *c = config(l);
	int64_t window = c->window, left = c->messages - l->burst_sent;
	if (c->batch && !config_one(c) && window > BATCH)
		window = BATCH;
	int64_t open = window - (l->burst_sent - l->burst_done);
	return open < left ? open : left;
}

void lane_fill(struct lane *l)
{
	int64_t most = config(l)->batch ? BATCH : 1;
	while (l->worker->failure.kind == FAIL_NONE && l->phase == LANE_BURST && places(l) > 0 && session_has_room(&l->session)) {
		for (int64_t n = 0; n < most && places(l) > 0 && session_has_room(&l->session); n++) {
			stamp_send(l);
			if (!queue(l))
				return;
		}
		lane_flush(l, clock_ns());
	}
}

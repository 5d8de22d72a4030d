//go:build ignore

/* The client role of ../kcp, which has no handshake, with ENet's handshakes before it says "connected". */
#define _GNU_SOURCE
#include "../kcp/report.h"

static int handshakes(struct run *r, struct failure *f);

#define report_connected(r, f) (handshakes(r, f) < 0 ? -1 : report_connected(r, f))
#include "../kcp/client.c"
#undef report_connected

/* At most so many at a time (transports/wire/README.md), each looked at so often. */
#define HANDSHAKES 8
#define HANDSHAKE_PAUSE_NS 100000u

/* 1 when the connection stands, 0 while it is under way, -1 with the failure filled in. */
static int shake(struct lane *l, struct failure *f)
{
	ENetEvent e;
	if (session_service(l->session.host, l->session.traffic) < 0)
		return fail_errno(f, "connection %llu", (unsigned long long)l->index);
	if (enet_host_check_events(l->session.host, &e) <= 0)
		return 0;
	return e.type == ENET_EVENT_TYPE_CONNECT ? 1 : fail(f, FAIL_FAILED, "connection %llu: the server does not answer", (unsigned long long)l->index);
}

static int rest(struct run *r, struct failure *f)
{
	enum control_event e = control_wait(r->client.control, clock_ns() + HANDSHAKE_PAUSE_NS);
	if (e == CONTROL_SIGNAL)
		return fail(f, FAIL_INTERRUPTED, "run interrupted by a signal");
	if (e == CONTROL_DEADLINE)
		return fail(f, FAIL_DEADLINE, "client has no connection after %s", r->client.config->deadline_text);
	return 0;
}

/* Connections that stand answer the server's pings meanwhile, or it would give them up. */
static int keep(struct run *r, int64_t begun, struct failure *f)
{
	enet_uint32 now = enet_time_get();
	for (int64_t i = 0; i < begun; i++) {
		struct session *s = &r->lanes[i].session;
		if (session_due(s, now) && session_service(s->host, s->traffic) < 0)
			return fail_errno(f, "connection %lld", (long long)i);
	}
	return 0;
}

static int handshakes(struct run *r, struct failure *f)
{
	struct lane *busy[HANDSHAKES];
	int64_t n = r->client.config->connections, next = 0, count = 0;
	uint64_t began = clock_ns();
	while (next < n || count > 0) {
		for (; next < n && count < HANDSHAKES; next++) {
			busy[count++] = &r->lanes[next];
			if (session_connect(&r->lanes[next].session) < 0)
				return fail(f, FAIL_FAILED, "connection %lld: out of memory", (long long)next);
		}
		for (int64_t i = count - 1; i >= 0; i--) {
			int state = shake(busy[i], f);
			if (state < 0)
				return -1;
			if (state > 0)
				busy[i] = busy[--count];
		}
		if (count > 0 && (keep(r, next, f) < 0 || rest(r, f) < 0))
			return -1;
	}
	r->setup_ns += clock_ns() - began;
	return 0;
}

//go:build ignore

#define _GNU_SOURCE
#include "session.h"

#include <errno.h>

#include "clock.h"
#include "core.h"

/* The core's way out. A full buffer is loss, which the core repairs; anything else ends the session. */
static int output(const char *b, int size, ikcpcb *kcp, void *user)
{
	struct session *s = user;
	(void)kcp;
	s->traffic->syscalls++;
	if (sendto(s->fd, b, (size_t)size, 0, &s->peer.any, address_size(&s->peer)) >= 0) {
		s->traffic->datagrams++;
		return size;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR)
		s->traffic->refused++;
	else
		s->error = errno;
	return -1;
}

int session_open(struct session *s, uint32_t conv, const struct config *c)
{
	s->kcp = ikcp_create(conv, s);
	if (s->kcp == NULL)
		return -1;
	s->error = 0;
	ikcp_setoutput(s->kcp, output);
	if (ikcp_setmtu(s->kcp, (int)c->mtu) < 0) {
		session_close(s);
		return -1;
	}
	ikcp_nodelay(s->kcp, CORE_NODELAY, CORE_INTERVAL_MS, CORE_FAST_RESEND, CORE_NO_CONGESTION_WINDOW);
	ikcp_wndsize(s->kcp, CORE_SEND_WINDOW, config_one(c) ? CORE_RECEIVE_WINDOW_ONE : CORE_RECEIVE_WINDOW_MANY);
	ikcp_update(s->kcp, clock_ms(clock_ns())); /* before the first update the core does not flush */
	return 0;
}

void session_close(struct session *s)
{
	if (s->kcp != NULL)
		ikcp_release(s->kcp);
	s->kcp = NULL;
}

void session_input(struct session *s, const char *b, size_t size, uint64_t ns)
{
	if (size < CORE_HEADER || size >= SESSION_DATAGRAM_MAX)
		return;
	ikcp_update(s->kcp, clock_ms(ns)); /* the core measures round trips against its own clock */
	(void)ikcp_input(s->kcp, b, (long)size);
}

int session_queue(struct session *s, const unsigned char *b, size_t size)
{
	return ikcp_send(s->kcp, (const char *)b, (int)size) < 0 ? -1 : 0;
}

void session_flush(struct session *s, uint64_t ns)
{
	ikcp_update(s->kcp, clock_ms(ns));
	ikcp_flush(s->kcp);
}

void session_update(struct session *s, uint64_t ns) { ikcp_update(s->kcp, clock_ms(ns)); }

int session_wait_ms(const struct session *s, uint64_t ns)
{
	uint32_t now = clock_ms(ns), left = ikcp_check(s->kcp, now) - now;
	return left > CORE_INTERVAL_MS ? CORE_INTERVAL_MS : (int)left;
}

int session_receive(struct session *s, unsigned char *b, size_t room)
{
	int n = ikcp_recv(s->kcp, (char *)b, (int)room);
	if (n >= 0)
		return n;
	return n == SESSION_TOO_LONG ? SESSION_TOO_LONG : SESSION_EMPTY;
}

bool session_has_room(const struct session *s) { return ikcp_waitsnd(s->kcp) < CORE_SEND_WINDOW; }

bool session_dead(const struct session *s) { return s->error != 0 || s->kcp->state != 0; }

void session_granted(const struct session *s, struct granted *g)
{
	socklen_t size = sizeof g->rcvbuf;
	(void)getsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &g->rcvbuf, &size); /* on an error the value stays 0: not known */
	size = sizeof g->sndbuf;
	(void)getsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &g->sndbuf, &size);
	g->mtu = (int)s->kcp->mtu;
	g->window[0] = (int)s->kcp->snd_wnd;
	g->window[1] = (int)s->kcp->rcv_wnd;
	g->min_rto_ms = (int)s->kcp->rx_minrto;
	g->session = true;
}

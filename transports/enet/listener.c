//go:build ignore

#define _GNU_SOURCE
#include "../kcp/listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../kcp/clock.h"
#include "../kcp/socket.h"
#include "core.h"

/* Peers beyond the clients, for connections that strangers leave half open. */
#define SPARE_PEERS 16

/* How many peers a listener has room for. ENet looks at each of them whenever it sends, so with several listeners it is not all connections
 * but half as many again as this one's share, and some: far outside what the kernel's hash of the source ports gives. */
static size_t room(const struct config *c)
{
	int64_t share = c->connections / c->listeners, most = share + share / 2 + 64;
	int64_t peers = (most < c->connections ? most : c->connections) + SPARE_PEERS;
	return (size_t)(peers < CORE_MAX_CONNECTIONS ? peers : CORE_MAX_CONNECTIONS);
}

static void forget(ENetPeer *link)
{
	struct peer *p = link->data;
	link->data = NULL;
	if (p != NULL)
		free(p->held);
	free(p);
}

static void welcome(struct listener *l, ENetPeer *link)
{
	struct peer *p = calloc(1, sizeof *p);
	if (p == NULL) {
		enet_peer_disconnect(link, 0);
		return;
	}
	p->session = (struct session){.host = l->peers.host, .link = link, .fd = l->source.fd, .traffic = &l->traffic};
	link->data = p;
	session_patience(link);
	l->connections++;
	if (l->first_ns == 0) {
		l->first_ns = clock_ns();
		session_granted(&p->session, &l->granted);
	}
}

/* Echoes what the peer has sent. Data other than 0 tells the client that this is no timeout. */
static void answer(struct listener *l, ENetPeer *link, ENetPacket *packet)
{
	struct peer *p = link->data;
	if (p == NULL) {
		enet_packet_destroy(packet);
		return;
	}
	p->session.pending = packet;
	int64_t sent = echo_ready(&l->shared->echo, p, l->buffer);
	if (sent >= 0) {
		l->messages += sent;
		return;
	}
	fprintf(stderr, "connection ended after %lld messages: message out of order with the rules, or a fault on request\n", (long long)p->received);
	forget(link);
	enet_peer_disconnect(link, 1);
	enet_host_flush(l->peers.host);
}

/* Takes what has arrived, and answers it one message a call. */
static void turn(struct listener *l)
{
	ENetEvent e;
	l->updated_ns = clock_ns();
	if (session_service(l->peers.host, &l->traffic) < 0)
		return; /* an error of one datagram's way; the next turn tries again */
	while (enet_host_check_events(l->peers.host, &e) > 0) {
		if (e.type == ENET_EVENT_TYPE_CONNECT)
			welcome(l, e.peer);
		else if (e.type == ENET_EVENT_TYPE_RECEIVE)
			answer(l, e.peer, e.packet);
		else
			forget(e.peer);
	}
}

static void readable(struct source *s) { turn((struct listener *)s); }

int listener_open(struct listener *l, struct shared *shared, int number, const union address *at, struct failure *f)
{
	const struct config *c = shared->echo.config;
	l->shared = shared;
	l->number = number;
	l->source.ready = readable;
	l->buffer = malloc((size_t)c->payload);
	l->source.fd = socket_open(at, c->listeners > 1, c, f);
	if (l->source.fd < 0)
		return -1;
	l->peers.host = session_host(l->source.fd, room(c), c);
	if (l->buffer == NULL || l->peers.host == NULL)
		return fail(f, FAIL_FAILED, "listener: out of memory");
	return 0;
}

void listener_close(struct listener *l)
{
	ENetHost *host = l->peers.host;
	for (size_t i = 0; host != NULL && i < host->peerCount; i++)
		forget(&host->peers[i]);
	if (host != NULL)
		session_host_free(host);
	free(l->buffer);
	if (l->source.fd >= 0)
		close(l->source.fd);
	l->source.fd = -1;
}

void listener_tick(struct listener *l)
{
	if (l->updated_ns != 0 && clock_ns() - l->updated_ns >= CORE_TICK_MS * (uint64_t)NS_PER_MS)
		turn(l);
}

/* Timers exist once something has arrived. */
int listener_wait_ms(const struct listener *l) { return l->updated_ns == 0 ? -1 : CORE_TICK_MS; }

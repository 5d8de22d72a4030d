//go:build ignore

#define _GNU_SOURCE
#include "session.h"

#include <string.h>
#include <unistd.h>

#include "core.h"

enum {
	CHANNEL = 0,
	IDLE_MS = 100, /* a host without timers is serviced so often, for the library's pings */
};

/* ENet opens a socket of its own and cannot share a port or fix buffers before binding, so it gets ours instead. */
ENetHost *session_host(int fd, size_t peers, const struct config *c)
{
	ENetHost *host = enet_host_create(NULL, peers, CHANNEL + 1, 0, 0); /* no bandwidth limit either way */
	if (host == NULL)
		return NULL;
	enet_socket_destroy(host->socket);
	host->socket = fd;
	host->mtu = (enet_uint32)c->mtu;
	for (size_t i = 0; i < peers; i++)
		enet_peer_reset(&host->peers[i]); /* takes the MTU over */
	return host;
}

void session_host_free(ENetHost *host)
{
	host->socket = ENET_SOCKET_NULL;
	enet_host_destroy(host);
}

int session_open(struct session *s, uint32_t number, const struct config *c)
{
	(void)number;
	s->host = session_host(s->fd, 1, c);
	return s->host == NULL ? -1 : 0;
}

void session_close(struct session *s)
{
	if (s->host == NULL)
		return;
	if (s->link != NULL)
		enet_peer_disconnect_now(s->link, 0);
	session_host_free(s->host);
	s->host = NULL;
}

void session_patience(ENetPeer *link) { enet_peer_timeout(link, 0, ENET_PEER_TIMEOUT_MAXIMUM, ENET_PEER_TIMEOUT_MAXIMUM); }

int session_connect(struct session *s)
{
	ENetAddress to = {.host = s->peer.v4.sin_addr.s_addr, .port = address_port(&s->peer)};
	s->link = enet_host_connect(s->host, &to, CHANNEL + 1, 0);
	if (s->link == NULL)
		return -1;
	session_patience(s->link);
	return 0;
}

/* Without an event ENet reads until nothing is there (at most 256 datagrams), and the last read is the empty one. */
int session_service(ENetHost *host, struct traffic *t)
{
	t->syscalls++;
	return enet_host_service(host, NULL, 0) < 0 ? -1 : 0;
}

bool session_due(const struct session *s, enet_uint32 now_ms)
{
	if (now_ms - s->host->serviceTime >= IDLE_MS)
		return true;
	const ENetList *sent = &s->link->sentReliableCommands;
	return sent->sentinel.next != &sent->sentinel && now_ms - s->link->nextTimeout < INT32_MAX; /* the clock wraps around */
}

int session_queue(struct session *s, const unsigned char *b, size_t size)
{
	ENetPacket *p = enet_packet_create(b, size, ENET_PACKET_FLAG_RELIABLE);
	if (p == NULL)
		return -1;
	if (enet_peer_send(s->link, CHANNEL, p) == 0)
		return 0;
	enet_packet_destroy(p);
	return -1;
}

void session_flush(struct session *s, uint64_t ns)
{
	(void)ns; /* the library has its own clock */
	enet_host_flush(s->host);
}

int session_receive(struct session *s, unsigned char *b, size_t room)
{
	enet_uint8 channel;
	ENetPacket *p = s->pending != NULL ? s->pending : enet_peer_receive(s->link, &channel);
	s->pending = NULL;
	if (p == NULL)
		return SESSION_EMPTY;
	int size = p->dataLength > room ? SESSION_TOO_LONG : (int)p->dataLength;
	if (size > 0)
		memcpy(b, p->data, (size_t)size);
	enet_packet_destroy(p);
	return size;
}

bool session_has_room(const struct session *s) { return s->link->state == ENET_PEER_STATE_CONNECTED; }

void session_granted(const struct session *s, struct granted *g)
{
	socklen_t size = sizeof g->rcvbuf;
	(void)getsockopt(s->host->socket, SOL_SOCKET, SO_RCVBUF, &g->rcvbuf, &size); /* on an error the value stays 0: not known */
	size = sizeof g->sndbuf;
	(void)getsockopt(s->host->socket, SOL_SOCKET, SO_SNDBUF, &g->sndbuf, &size);
	g->mtu = (int)s->link->mtu;
	g->window[0] = (int)s->link->windowSize;
	g->window[1] = CORE_RECEIVE_WINDOW_ONE;
	g->min_rto_ms = CORE_MIN_RTO_MS;
	g->session = true;
}

/* One ENet connection as the shared files of ../kcp want it: it takes the place of ../kcp/session.h, same guard and functions. A client has
 * a host of its own for every connection, so that each has its socket and source port as in the other columns; the peers of a listener share
 * one. Not safe for concurrent use. */
#ifndef SESSION_H
#define SESSION_H

#include <enet/enet.h>
#include <stdbool.h>
#include <stdint.h>

#include "../kcp/address.h"
#include "../kcp/config.h"
#include "../kcp/settings.h"

struct traffic {
	int64_t datagrams, syscalls;
};

struct session {
	ENetHost *host;      /* owned by a client's session */
	ENetPeer *link;      /* NULL before the handshake began */
	ENetPacket *pending; /* received, and not taken yet */
	int fd;              /* of the host; not owned */
	union address peer;  /* the server, for a client */
	struct traffic *traffic;
};

/* Shared structures have room for a datagram, which ENet reads by itself. */
#define SESSION_DATAGRAM_MAX 1

/* Makes a host of peers over the socket, which stays the caller's. NULL without memory. */
ENetHost *session_host(int fd, size_t peers, const struct config *c);
void session_host_free(ENetHost *host);

/* A client's host. number is not used: ENet numbers its connections. Returns 0, or -1 without memory. */
int session_open(struct session *s, uint32_t number, const struct config *c);
void session_close(struct session *s);

/* Makes a connection wait for acknowledgements as long as ENet ever does, not as short: a crowded server may be silent for seconds. */
void session_patience(ENetPeer *link);

/* Begins the handshake. Returns 0, or -1 without memory. */
int session_connect(struct session *s);

/* Reads everything that has arrived, acknowledges it and resends what is due. Returns 0, or -1 with errno set. */
int session_service(ENetHost *host, struct traffic *t);

/* True when session_service has something to do although nothing has arrived; now_ms is enet_time_get's. */
bool session_due(const struct session *s, enet_uint32 now_ms);

/* As in ../kcp: queue, send at once, take the next message. */
int session_queue(struct session *s, const unsigned char *b, size_t size);
void session_flush(struct session *s, uint64_t ns);
enum { SESSION_EMPTY = -1, SESSION_TOO_LONG = -3 };
int session_receive(struct session *s, unsigned char *b, size_t room);

/* True while the connection takes messages: ENet's queue has no end, its window decides what leaves. */
bool session_has_room(const struct session *s);

void session_granted(const struct session *s, struct granted *g);

#endif

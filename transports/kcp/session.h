/* One conversation of the protocol core with the socket and the peer that it belongs to. Not safe for concurrent use. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"
#include "config.h"
#include "ikcp.h"
#include "settings.h"

/* What a worker has sent; each worker counts its own. */
struct traffic {
	int64_t datagrams; /* handed to the kernel */
	int64_t syscalls;
	int64_t refused; /* send buffer full: lost, as on the path */
};

struct session {
	ikcpcb *kcp;
	int fd; /* not owned */
	union address peer;
	struct traffic *traffic;
	int error; /* errno of a send that failed for good; 0: none */
};

/* A datagram larger than the largest MTU is nobody's; one byte more than that tells it from a full one. */
#define SESSION_DATAGRAM_MAX 1473

/* Creates the core's object with the parameters of the column. s must not move afterwards. Returns 0, or -1 without memory. */
int session_open(struct session *s, uint32_t conv, const struct config *c);
void session_close(struct session *s);

/* Hands a received datagram to the core, which drops what does not fit. ns is the time of the call. */
void session_input(struct session *s, const char *b, size_t size, uint64_t ns);

/* Queues a message. Returns 0, or -1 when the core refuses it. Nothing leaves before session_flush. */
int session_queue(struct session *s, const unsigned char *b, size_t size);

/* Sends everything that may go now: acknowledgements, new segments, resends. Sets the core's clock first: it would stand still. */
void session_flush(struct session *s, uint64_t ns);

/* Moves the core's clock and lets it flush when its interval has passed. */
void session_update(struct session *s, uint64_t ns);

/* Milliseconds until session_update has something to do. */
int session_wait_ms(const struct session *s, uint64_t ns);

enum { SESSION_EMPTY = -1, SESSION_TOO_LONG = -3 };

/* Takes the next whole message. Returns its size, SESSION_EMPTY, or SESSION_TOO_LONG when it does not fit. */
int session_receive(struct session *s, unsigned char *b, size_t room);

/* True while fewer segments than the send window wait for their acknowledgement. */
bool session_has_room(const struct session *s);

/* True when the core has given up on a segment, or the kernel on the socket. */
bool session_dead(const struct session *s);

void session_granted(const struct session *s, struct granted *g);

#endif

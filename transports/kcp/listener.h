/* One listening socket of the server with the conversations that came in through it. It belongs to one thread. */
#ifndef LISTENER_H
#define LISTENER_H

#include "echo.h"
#include "loop.h"
#include "peers.h"

/* What all threads of the server share. */
struct shared {
	struct echo echo;
	/* One client per conversation number: whoever comes first. A datagram replayed from elsewhere finds its number taken, so it is
	 * never echoed, and their number bounds the memory that strangers can make the server use. */
	atomic_bool taken[MAX_CONNECTIONS];
};

struct listener {
	struct source source; /* first: the loop hands it back */
	struct shared *shared;
	int number;
	struct peers peers;
	struct peer *dirty; /* peers that received something in this turn, with the batch API */
	struct traffic traffic;
	int64_t connections, messages;
	uint64_t updated_ns, first_ns; /* last update of all peers; arrival of the first, 0: none */
	struct granted granted;        /* of the first */
	unsigned char *buffer;         /* one message */
	char datagram[SESSION_DATAGRAM_MAX];
};

/* Opens the socket. Returns 0, or -1 with the failure filled in. */
int listener_open(struct listener *l, struct shared *shared, int number, const union address *at, struct failure *f);
void listener_close(struct listener *l);

/* Handles the datagram of size bytes in l->datagram. */
void listener_take(struct listener *l, const union address *from, size_t size);

/* Answers the peers that listener_take left for the end of a turn. */
void listener_serve(struct listener *l);

/* Moves the clocks of the peers on and echoes what was waiting for room. */
void listener_tick(struct listener *l);

/* How long the thread may sleep for this listener, in ms; -1: until something arrives. */
int listener_wait_ms(const struct listener *l);

#endif

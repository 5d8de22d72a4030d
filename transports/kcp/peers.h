/* The clients of one server socket, found by source address and port. */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>

#include "session.h"

struct peer {
	struct session session; /* kcp is NULL once the peer is dropped; the entry stays, so that it cannot come back */
	int64_t received;       /* messages taken */
	bool dirty;             /* received something since the last flush, and stands in the listener's list */
	struct peer *next_dirty;
	unsigned char *held; /* of a swap: the message that goes after its successor */
	int held_size;
};

/* A hash table with open addressing; entries are never removed. */
struct peers {
	struct peer **slots;
	size_t size, used; /* size is a power of two, or 0 */
	struct peer **all; /* in order of arrival */
};

/* Returns NULL when the address is unknown. */
struct peer *peers_find(const struct peers *p, const union address *from);

/* Adds a peer for an address that is not there. Returns NULL without memory. */
struct peer *peers_add(struct peers *p, const union address *from);

/* Frees everything, open sessions too. */
void peers_free(struct peers *p);

#endif

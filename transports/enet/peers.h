/* The clients of one listener. It takes the place of ../kcp/peers.h: ENet finds them by itself, and each keeps its struct peer as data. */
#ifndef PEERS_H
#define PEERS_H

#include "session.h"

struct peer {
	struct session session;
	int64_t received;    /* messages taken */
	bool dirty;          /* for the shared files only */
	unsigned char *held; /* of a swap: the message that goes after its successor */
	int held_size;
};

struct peers {
	ENetHost *host;
};

#endif

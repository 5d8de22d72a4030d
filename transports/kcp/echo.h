/* The server's side of a conversation: every message goes back as it came, or as the fault under test wants it. */
#ifndef ECHO_H
#define ECHO_H

#include <stdatomic.h>

#include "peers.h"

/* At most so many ready messages go back in one call of the batch API (published). */
#define ECHO_BATCH 16

struct echo {
	const struct config *config;
	atomic_bool fault_spent; /* a server misbehaves once in its life */
};

/* Sends back what is ready, as long as the send window has room. buffer holds one message. Returns how many were sent, or -1 when the
 * peer broke the rules or is to be cut off. */
int64_t echo_ready(struct echo *e, struct peer *p, unsigned char *buffer);

#endif

/* Which datagram may open a conversation on the server. */
#ifndef ADMIT_H
#define ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

/* True for the begin of a conversation that this server serves: one of its numbers, and a whole data segment within the first receive
 * window. KCP has no handshake, so this is all that tells a client from junk. conv is set when true. */
bool admit(const char *b, size_t size, const union address *from, const struct config *c, uint32_t *conv);

#endif

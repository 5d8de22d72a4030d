/* UDP sockets as the column wants them: non-blocking, unconnected, with a large receive buffer. */
#ifndef SOCKET_H
#define SOCKET_H

#include <stdbool.h>

#include "config.h"

/* Opens and binds a socket; share lets several have the same port. Returns the descriptor, or -1 with the failure filled in. */
int socket_open(const union address *at, bool share, const struct config *c, struct failure *f);

/* The address that a socket is bound to. */
int socket_address(int fd, union address *a, struct failure *f);

/* The fixed source port of connection index, so that every run meets the same hashing over the listeners. */
uint16_t socket_source_port(const struct config *c, int64_t index);

#endif

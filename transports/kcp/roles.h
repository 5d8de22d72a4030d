/* The two roles of a driver. Each writes its records and returns 0, or -1 with the failure filled in. */
#ifndef ROLES_H
#define ROLES_H

#include "config.h"

/* began is when the program started, from which the deadline counts; CLOCK_MONOTONIC, ns. */
int client_role(const struct config *c, uint64_t began, struct failure *f);
int server_role(const struct config *c, uint64_t began, struct failure *f);

#endif

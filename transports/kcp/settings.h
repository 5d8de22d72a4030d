/* The effective settings of the process, its sockets and the protocol core: read back, not repeated from the flags. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "config.h"
#include "json.h"

/* What only an open socket and a session know; all zero before there is one. */
struct granted {
	int rcvbuf, sndbuf; /* as getsockopt returns them */
	int mtu;            /* bytes of UDP payload */
	int window[2];      /* segments: send, receive, as the core holds them */
	int min_rto_ms;
	bool session; /* mtu, window and min_rto_ms are known */
};

/* Worker threads: -workers, or min(4, CPUs of the process). */
int64_t settings_workers(const struct config *c);

/* Raises the soft limit of open files to the hard one: every connection has a socket of its own. */
void settings_raise_files(void);

/* Writes the settings object. */
void settings_write(struct json *j, const struct config *c, const struct granted *g);

#endif

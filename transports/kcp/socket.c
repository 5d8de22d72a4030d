//go:build ignore

#define _GNU_SOURCE
#include "socket.h"

#include <unistd.h>

#include "core.h"

/* Above the published server port (19,342), and with 8,192 connections still below Linux's ephemeral ports (32,768). */
#define SOURCE_PORT_FIRST 24000

static int set_buffers(int fd, const struct config *c, struct failure *f)
{
	int rcv = c->rcvbuf > 0 ? (int)c->rcvbuf : CORE_RCVBUF, snd = (int)c->sndbuf;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcv, sizeof rcv) < 0)
		return fail_errno(f, "receive buffer of %d bytes", rcv);
	if (snd > 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &snd, sizeof snd) < 0)
		return fail_errno(f, "send buffer of %d bytes", snd);
	return 0;
}

int socket_open(const union address *at, bool share, const struct config *c, struct failure *f)
{
	char text[ADDRESS_TEXT];
	address_format(at, text);
	int fd = socket(at->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail_errno(f, "socket for %s", text);
	int one = 1;
	if (share && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0)
		fail_errno(f, "share the port of %s", text);
	else if (bind(fd, &at->any, address_size(at)) < 0)
		fail_errno(f, "bind %s", text);
	else if (set_buffers(fd, c, f) == 0)
		return fd;
	close(fd);
	return -1;
}

int socket_address(int fd, union address *a, struct failure *f)
{
	socklen_t size = sizeof *a;
	return getsockname(fd, &a->any, &size) < 0 ? fail_errno(f, "address of a socket") : 0;
}

uint16_t socket_source_port(const struct config *c, int64_t index)
{
	int64_t port = SOURCE_PORT_FIRST + index, server = address_port(&c->addr);
	return (uint16_t)(server >= SOURCE_PORT_FIRST && port >= server ? port + 1 : port); /* never the server's own */
}

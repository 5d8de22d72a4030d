/* Fuzz target of the input path: a byte string becomes a series of datagrams from two addresses, with time passing between them. The
 * first byte chooses the role and the API. It runs under libFuzzer, or under loop.c where that is not at hand. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../clock.h"
#include "../core.h"
#include "../listener.h"
#include "../payload.h"
#include "../worker.h"

/* The driver's clock, so that a run depends on its bytes only (clock.c is not linked). */
static uint64_t now_ns = NS_PER_S;

uint64_t clock_ns(void) { return now_ns; }

uint32_t clock_ms(uint64_t ns) { return (uint32_t)(ns / NS_PER_MS); }

/* One step of the series. */
struct step {
	unsigned char op;
	const unsigned char *bytes;
	size_t size;
};

enum {
	OP_FROM_OTHER = 1, /* from the second address */
	OP_OUR_CONV = 2,   /* the first four bytes become conversation 42, which random ones never meet */
	OP_OUR_CMD = 4,    /* the command becomes one of the four known ones */
	OP_LENGTH = 8,     /* the length field becomes what follows the header */
	OP_TIME = 16,      /* 5 ms pass before it */
	OP_TICK = 32,      /* and the timers run after it */
};

static int next_step(struct step *s, const unsigned char **data, size_t *left)
{
	if (*left < 3)
		return 0;
	s->op = (*data)[0];
	s->size = (size_t)((*data)[1] | (*data)[2] << 8) % (SESSION_DATAGRAM_MAX + 1);
	*data += 3;
	*left -= 3;
	if (s->size > *left)
		s->size = *left;
	s->bytes = *data;
	*data += s->size;
	*left -= s->size;
	return 1;
}

/* Copies the datagram of a step into room and makes it as plausible as its op says. */
static void lay_out(char *room, const struct step *s)
{
	memcpy(room, s->bytes, s->size);
	if (s->size < CORE_HEADER)
		return;
	if (s->op & OP_OUR_CONV)
		memcpy(room, "\x2A\0\0\0", 4);
	if (s->op & OP_OUR_CMD)
		room[4] = (char)(CORE_PUSH + (room[4] & 3));
	if (s->op & OP_LENGTH) {
		size_t rest = s->size - CORE_HEADER;
		room[20] = (char)(rest & 0xFF);
		room[21] = (char)(rest >> 8);
		room[22] = room[23] = 0;
	}
}

static union address loopback(uint16_t port)
{
	union address a;
	memset(&a, 0, sizeof a);
	a.v4.sin_family = AF_INET;
	a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.v4.sin_port = htons(port);
	return a;
}

static struct config config_of(unsigned char first)
{
	struct config c = {.connections = 1, .messages = 8, .payload = 800, .window = 16, .warmup = 1, .samples = 1, .listeners = 1};
	c.mtu = CORE_MTU;
	c.suite = first & 1 ? SUITE_CONCURRENT : SUITE_SINGLE;
	c.batch = first & 2;
	c.fault = first & 8 ? (enum fault_kind)(first >> 4 & 3) : FAULT_NONE;
	return c;
}

static void serve(struct config *c, int fd, const unsigned char *data, size_t left)
{
	struct shared *shared = calloc(1, sizeof *shared);
	struct listener *l = calloc(1, sizeof *l);
	struct step s;
	shared->echo.config = c;
	l->shared = shared;
	l->source.fd = dup(fd);
	l->buffer = malloc((size_t)c->payload);
	while (next_step(&s, &data, &left)) {
		union address from = loopback(s.op & OP_FROM_OTHER ? 9 : 7);
		now_ns += s.op & OP_TIME ? 5 * NS_PER_MS : 1000;
		lay_out(l->datagram, &s);
		listener_take(l, &from, s.size);
		if (s.op & OP_TICK) {
			listener_serve(l);
			listener_tick(l);
		}
	}
	listener_serve(l);
	listener_close(l);
	free(l);
	free(shared);
}

static void measure(struct config *c, int fd, const unsigned char *data, size_t left)
{
	struct control control = {.signals = -1, .calls = -1};
	struct client client = {.config = c, .control = &control};
	struct worker w = {.client = &client};
	struct lane l = {.worker = &w};
	uint64_t sparse[1];
	struct step s;
	client.fill = malloc((size_t)c->payload);
	memset(client.fill, PAYLOAD_FILL, (size_t)c->payload);
	w.in = malloc((size_t)c->payload);
	w.out = malloc((size_t)c->payload);
	payload_build(w.out, (size_t)c->payload, 0, 0);
	l.session = (struct session){.fd = fd, .peer = loopback(7), .traffic = &w.traffic};
	l.sparse = sparse;
	if (session_open(&l.session, CORE_CONV_FIRST, c) < 0)
		abort();
	lane_begin(&l);
	while (next_step(&s, &data, &left)) {
		now_ns += s.op & OP_TIME ? 5 * NS_PER_MS : 1000;
		lay_out(w.datagram, &s);
		session_input(&l.session, w.datagram, s.size, now_ns);
		while (lane_take(&l))
			;
		if (l.phase == LANE_READY)
			lane_release(&l);
		lane_fill(&l);
		lane_flush(&l, now_ns);
	}
	session_close(&l.session);
	free(client.fill);
	free(w.in);
	free(w.out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd = -1; /* sends to the discard port: nobody listens, and UDP does not mind */
	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (size == 0)
		return 0;
	struct config c = config_of(data[0]);
	if (data[0] & 4)
		serve(&c, fd, data + 1, size - 1);
	else
		measure(&c, fd, data + 1, size - 1);
	return 0;
}

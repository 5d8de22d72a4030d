/* The parameters of the column. It takes the place of ../kcp/core.h: same guard, the names that the shared files use. */
#ifndef CORE_H
#define CORE_H

enum {
	CORE_MTU = 1400,           /* bytes of UDP payload; ENET_HOST_DEFAULT_MTU */
	CORE_MTU_MIN = 0,          /* ENet's own range is checked in driver.c */
	CORE_MTU_MAX = 1 << 16,    /* as above */
	CORE_HEADER = 0,           /* so no payload is refused for its number of fragments: */
	CORE_FRAGMENTS_MAX = 1 << 20, /* ENET_PROTOCOL_MAXIMUM_FRAGMENT_COUNT */
	CORE_CONV_FIRST = 0,       /* ENet numbers its peers by itself */
	CORE_RCVBUF = 2 << 20,     /* bytes of SO_RCVBUF unless -rcvbuf says otherwise, as the other UDP columns */
	CORE_SEND_WINDOW = 65536,  /* bytes; ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE, what the library gives without a bandwidth limit */
	CORE_RECEIVE_WINDOW_ONE = CORE_SEND_WINDOW,
	CORE_RECEIVE_WINDOW_MANY = CORE_SEND_WINDOW,
	CORE_MIN_RTO_MS = 5,       /* round trip of 1 ms and four times a variance of 1 ms: ENet's arithmetic lets neither fall lower */
	CORE_MAX_CONNECTIONS = 4095, /* ENET_PROTOCOL_MAXIMUM_PEER_ID: peers of one host, and one listener may get them all */
	CORE_TICK_MS = 1,          /* how often timers are looked at */
};

#endif

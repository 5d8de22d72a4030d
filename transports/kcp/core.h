/* The parameters of the column, as published, and the facts of the protocol core that the driver relies on. */
#ifndef CORE_H
#define CORE_H

enum {
	CORE_HEADER = 24,         /* bytes of a segment's header: conv, cmd, frg, wnd, ts, sn, una, len */
	CORE_PUSH = 81,           /* cmd of a data segment */
	CORE_FRAGMENTS_MAX = 127, /* of one message: the core refuses 128 */
	CORE_CONV_FIRST = 42,     /* conversation of connection 0; connection i has 42 + i */
	CORE_MTU = 1400,          /* bytes of UDP payload */
	CORE_MTU_MIN = 50,        /* the core takes no less */
	CORE_MTU_MAX = 1472,      /* one packet of a link with MTU 1500 over IPv4 */
	CORE_NODELAY = 1,         /* minimum RTO 30 ms, back-off by half */
	CORE_INTERVAL_MS = 10,
	CORE_FAST_RESEND = 2,
	CORE_NO_CONGESTION_WINDOW = 1,
	CORE_SEND_WINDOW = 64,
	CORE_RECEIVE_WINDOW_ONE = 64,   /* segments; the core raises it to 128 */
	CORE_RECEIVE_WINDOW_MANY = 128,
	CORE_RCVBUF = 2 << 20, /* bytes of SO_RCVBUF unless -rcvbuf says otherwise */
};

#endif

/* The main thread's ear: signals, the deadline, the end of standard input, and the workers' calls. */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

struct control {
	int signals;     /* signalfd for SIGTERM and SIGINT */
	int calls;       /* eventfd that workers write to */
	bool input;      /* standard input is watched */
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
};

enum control_event { CONTROL_CALLED, CONTROL_TIMEOUT, CONTROL_SIGNAL, CONTROL_INPUT_ENDED, CONTROL_DEADLINE };

/* Blocks the signals, for the threads started afterwards too. */
int control_open(struct control *c, bool stop_on_eof, uint64_t deadline, struct failure *f);
void control_close(struct control *c);

/* Sleeps until something happens, at the latest until the given time (0: only until the deadline). */
enum control_event control_wait(struct control *c, uint64_t until);

/* Wakes the main thread; any thread may call it. */
void control_call(struct control *c);

#endif

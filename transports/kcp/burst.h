/* What a connection does with the echoes that are ready, by kind of suite. */
#ifndef BURST_H
#define BURST_H

#include "lane.h"

/* One connection: take everything, then fill the window (single.c). */
void single_drain(struct lane *l);

/* Many connections: one new message per echo, or a batch of as many (concurrent.c). */
void concurrent_drain(struct lane *l);

#endif

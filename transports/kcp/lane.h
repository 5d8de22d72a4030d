/* One connection of the client: its numbering, its verification and its times. It belongs to one worker. */
#ifndef LANE_H
#define LANE_H

#include "loop.h"
#include "session.h"

/* At most so many ready messages go into one call of the batch API (published). */
#define BATCH 16

enum lane_phase {
	LANE_ROUNDS, /* one message at a time: warmup, then samples */
	LANE_READY,  /* at the barrier */
	LANE_BURST,
	LANE_DONE, /* stays open: no echo may come any more */
};

struct worker;

struct lane {
	struct source source; /* first: the loop hands it back */
	struct worker *worker;
	struct session session;
	enum lane_phase phase;
	bool dirty; /* something was received since the last flush */

	uint64_t index;
	uint64_t sent; /* number of the next message */
	uint64_t next; /* number of the echo that must come next */

	int64_t burst_sent, burst_done;
	uint64_t began_ns;              /* of the round under way */
	uint64_t sent_ns, echoed_ns;    /* sums over the burst, modulo 2^64; their difference is the sum of its RTTs */
	uint64_t end_ns;                /* last verified echo */
	uint64_t *sparse, *loaded;      /* RTTs in ns, in order; loaded is NULL outside its suite */
	uint64_t *ring;                 /* send times of the last window messages, in the loaded suite */
};

/* Sends the first round, or arrives at the barrier at once. */
void lane_begin(struct lane *l);

/* Starts the burst. */
void lane_release(struct lane *l);

/* Takes the next echo if one is ready: verifies it and does what follows from it. False when there is none, or a failure. */
bool lane_take(struct lane *l);

/* Sends what the window allows: one message a call, or up to BATCH. */
void lane_fill(struct lane *l);

/* Sends everything the core has ready. */
void lane_flush(struct lane *l, uint64_t ns);

#endif

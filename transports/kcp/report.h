/* What the client says of its run. */
#ifndef REPORT_H
#define REPORT_H

#include "worker.h"

/* One run of the client role. */
struct run {
	struct client client;
	struct lane *lanes;
	struct worker *crew;
	int64_t crew_size;
	uint64_t *sparse, *loaded, *rings; /* backing arrays of the lanes; the last two in the loaded suite only */
	uint64_t setup_ns, start_ns;
};

/* Write one record each; report_result also the connections records and the samples file. 0, or -1 with the failure filled in. */
int report_connected(const struct run *r, struct failure *f);
int report_start(const struct run *r, struct failure *f);
int report_result(struct run *r, struct failure *f);

#endif

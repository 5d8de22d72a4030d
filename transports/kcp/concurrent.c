//go:build ignore

#include "burst.h"
#include "worker.h"

void concurrent_drain(struct lane *l)
{
	int most = l->worker->client->config->batch ? BATCH : 1, taken;
	do {
		for (taken = 0; taken < most && lane_take(l); taken++)
			;
		lane_fill(l);
	} while (taken == most);
}

//go:build ignore

#include "burst.h"

void single_drain(struct lane *l)
{
	while (lane_take(l))
		;
	lane_fill(l);
}

/* Ending threads that may hang. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdint.h>

#include "fail.h"

/* How long a thread may take to end once it was told to. The contract wants the process gone half a second after its deadline. */
#define THREADS_GRACE_NS 400000000u

/* Waits for a thread until the given time (CLOCK_MONOTONIC, ns). If it hangs, the process ends here with the failure in f, since nothing
 * that the thread uses may be freed. */
void threads_join(pthread_t id, uint64_t until, struct failure *f);

#endif

/* The one clock of the driver: CLOCK_MONOTONIC. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

#define NS_PER_MS 1000000u
#define NS_PER_S 1000000000u

/* Nanoseconds since boot, comparable between processes of one machine. */
uint64_t clock_ns(void);

/* The core counts milliseconds in 32 bits, wrapping around. */
uint32_t clock_ms(uint64_t ns);

#endif

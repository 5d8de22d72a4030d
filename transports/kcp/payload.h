/* The bytes of a message: 0xFE, connection u64, message u64 (both little endian), then 0xFE to the end. */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MIN 17
#define PAYLOAD_FILL 0xFE

/* Fills size >= PAYLOAD_MIN bytes. */
void payload_build(unsigned char *b, size_t size, uint64_t connection, uint64_t message);

/* Turns one built payload into another of the same size: only the two numbers change. */
void payload_number(unsigned char *b, uint64_t connection, uint64_t message);

/* Compares every byte. Returns 0, or -1 with the first difference as text in why. fill is size bytes of PAYLOAD_FILL. */
int payload_check(const unsigned char *b, size_t size, uint64_t connection, uint64_t message, const unsigned char *fill, char *why,
                  size_t room);

#endif

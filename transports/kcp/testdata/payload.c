/* Reads lines "connection message size" and prints them with the payload in hex, as in wire/testdata/payload.golden. Exits 1 when a
 * payload does not pass its own check, or passes with any one bit changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../payload.h"

static int checks(unsigned char *b, size_t size, uint64_t connection, uint64_t message)
{
	unsigned char fill[256];
	char why[128];
	memset(fill, PAYLOAD_FILL, sizeof fill);
	if (payload_check(b, size, connection, message, fill, why, sizeof why) != 0)
		return 0;
	for (size_t bit = 0; bit < size * 8; bit++) {
		b[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (payload_check(b, size, connection, message, fill, why, sizeof why) == 0)
			return 0;
		b[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	return 1;
}

int main(void)
{
	uint64_t connection, message;
	size_t size;
	unsigned char b[256];
	while (scanf("%" SCNu64 " %" SCNu64 " %zu", &connection, &message, &size) == 3) {
		if (size < PAYLOAD_MIN || size > sizeof b)
			return 2;
		payload_build(b, size, connection, message);
		printf("%" PRIu64 " %" PRIu64 " %zu ", connection, message, size);
		for (size_t i = 0; i < size; i++)
			printf("%02x", b[i]);
		printf("\n");
		if (!checks(b, size, connection, message))
			return 1;
	}
	return 0;
}

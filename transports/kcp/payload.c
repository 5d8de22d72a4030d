//go:build ignore

#include "payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AT_CONNECTION = 1, AT_MESSAGE = 9 };

static void put_u64(unsigned char *b, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get_u64(const unsigned char *b)
{
	uint64_t v = 0;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | b[i];
	return v;
}

void payload_build(unsigned char *b, size_t size, uint64_t connection, uint64_t message)
{
	memset(b, PAYLOAD_FILL, size);
	payload_number(b, connection, message);
}

void payload_number(unsigned char *b, uint64_t connection, uint64_t message)
{
	put_u64(b + AT_CONNECTION, connection);
	put_u64(b + AT_MESSAGE, message);
}

/* Says where b differs; only called when it does. */
static void difference(const unsigned char *b, size_t size, uint64_t connection, uint64_t message, char *why, size_t room)
{
	if (b[0] != PAYLOAD_FILL) {
		snprintf(why, room, "marker byte is %u", b[0]);
		return;
	}
	if (get_u64(b + AT_CONNECTION) != connection) {
		snprintf(why, room, "echo belongs to connection %" PRIu64, get_u64(b + AT_CONNECTION));
		return;
	}
	if (get_u64(b + AT_MESSAGE) != message) {
		snprintf(why, room, "echo carries message %" PRIu64, get_u64(b + AT_MESSAGE));
		return;
	}
	size_t i = PAYLOAD_MIN;
	while (i < size - 1 && b[i] == PAYLOAD_FILL)
		i++;
	snprintf(why, room, "byte %zu is %u", i, b[i]);
}

int payload_check(const unsigned char *b, size_t size, uint64_t connection, uint64_t message, const unsigned char *fill, char *why,
                  size_t room)
{
	if (b[0] == PAYLOAD_FILL && get_u64(b + AT_CONNECTION) == connection && get_u64(b + AT_MESSAGE) == message &&
	    memcmp(b + PAYLOAD_MIN, fill, size - PAYLOAD_MIN) == 0)
		return 0;
	difference(b, size, connection, message, why, room);
	return -1;
}

//go:build ignore

#include "admit.h"

#include "core.h"

/* Offsets in a segment's header; numbers are little endian. */
enum { AT_CMD = 4, AT_FRAGMENT = 5, AT_SERIAL = 12, AT_LENGTH = 20 };

static uint32_t get_u32(const char *b)
{
	const unsigned char *u = (const unsigned char *)b;
	return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

bool admit(const char *b, size_t size, const union address *from, const struct config *c, uint32_t *conv)
{
	uint32_t most = config_one(c) ? 1 : MAX_CONNECTIONS;
	if (size < CORE_HEADER || address_port(from) == 0)
		return false;
	*conv = get_u32(b);
	return *conv - CORE_CONV_FIRST < most && (unsigned char)b[AT_CMD] == CORE_PUSH && (unsigned char)b[AT_FRAGMENT] < CORE_FRAGMENTS_MAX &&
	       get_u32(b + AT_SERIAL) < CORE_RECEIVE_WINDOW_MANY && get_u32(b + AT_LENGTH) <= size - CORE_HEADER;
}

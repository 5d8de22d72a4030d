//go:build ignore

#include "address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, uint16_t *port)
{
	if (*text < '0' || *text > '9')
		return false;
	char *end;
	unsigned long v = strtoul(text, &end, 10);
	if (*end != '\0' || v > UINT16_MAX)
		return false;
	*port = (uint16_t)v;
	return true;
}

bool address_parse(union address *a, const char *text)
{
	char host[INET6_ADDRSTRLEN + 1] = "";
	const char *colon = strrchr(text, ':');
	uint16_t port;
	if (colon == NULL || !parse_port(colon + 1, &port))
		return false;
	bool brackets = text[0] == '[';
	const char *from = brackets ? text + 1 : text;
	size_t length = (size_t)(colon - from);
	if (brackets && (length == 0 || colon[-1] != ']'))
		return false;
	length -= brackets ? 1 : 0;
	if (length >= sizeof host)
		return false;
	memcpy(host, from, length);
	memset(a, 0, sizeof *a);
	if (brackets) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons(port);
		return inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1;
	}
	a->v4.sin_family = AF_INET;
	a->v4.sin_port = htons(port);
	return inet_pton(AF_INET, host, &a->v4.sin_addr) == 1;
}

void address_format(const union address *a, char *text)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool six = a->any.sa_family == AF_INET6;
	const void *raw = six ? (const void *)&a->v6.sin6_addr : (const void *)&a->v4.sin_addr;
	inet_ntop(a->any.sa_family, raw, host, sizeof host);
	snprintf(text, ADDRESS_TEXT, six ? "[%s]:%u" : "%s:%u", host, address_port(a));
}

socklen_t address_size(const union address *a) { return a->any.sa_family == AF_INET6 ? sizeof a->v6 : sizeof a->v4; }

uint16_t address_port(const union address *a) { return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port); }

void address_set_port(union address *a, uint16_t port)
{
	if (a->any.sa_family == AF_INET6)
		a->v6.sin6_port = htons(port);
	else
		a->v4.sin_port = htons(port);
}

union address address_wildcard(const union address *like, uint16_t port)
{
	union address a;
	memset(&a, 0, sizeof a); /* all zero is the wildcard in both families */
	a.any.sa_family = like->any.sa_family;
	address_set_port(&a, port);
	return a;
}

bool address_equal(const union address *a, const union address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_port == b->v4.sin_port && a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return a->v6.sin6_port == b->v6.sin6_port && a->v6.sin6_scope_id == b->v6.sin6_scope_id &&
	       memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

/* Multiplies by the 64-bit golden ratio (Knuth, TAOCP 3, 6.4), so that consecutive ports spread over a table of any size. */
#define GOLDEN 0x9E3779B97F4A7C15u

uint64_t address_hash(const union address *a)
{
	uint64_t h = address_port(a);
	if (a->any.sa_family == AF_INET) {
		h = h << 32 | a->v4.sin_addr.s_addr;
		return h * GOLDEN;
	}
	for (size_t i = 0; i < sizeof a->v6.sin6_addr; i++)
		h = (h ^ a->v6.sin6_addr.s6_addr[i]) * GOLDEN;
	return h;
}

/* IPv4 and IPv6 socket addresses. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

#define ADDRESS_TEXT 64

/* Reads IP:PORT, the IP of version 6 in brackets. */
bool address_parse(union address *a, const char *text);

/* Writes IP:PORT into room of ADDRESS_TEXT bytes. */
void address_format(const union address *a, char *text);

socklen_t address_size(const union address *a);
uint16_t address_port(const union address *a);
void address_set_port(union address *a, uint16_t port);

/* The wildcard address of the same family with the given port. */
union address address_wildcard(const union address *like, uint16_t port);

/* Same host and port. */
bool address_equal(const union address *a, const union address *b);
uint64_t address_hash(const union address *a);

#endif

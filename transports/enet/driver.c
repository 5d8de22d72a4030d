//go:build ignore

#include <stdio.h>
#include <string.h>

#include "../kcp/clock.h"
#include "../kcp/records.h"
#include "../kcp/roles.h"
#include "core.h"
#include "session.h"

/* Set by the build: the installed package of the library, and the sources of this driver. */
#ifndef ENET_PACKAGE
#define ENET_PACKAGE "unknown"
#endif
#ifndef SOURCE_COMMIT
#define SOURCE_COMMIT "unknown"
#endif

/* A larger datagram does not fit into one packet of a link with MTU 1500 over IPv4. */
#define MTU_MAX 1472

static void version_text(char *text, size_t room, ENetVersion v)
{
	snprintf(text, room, "%u.%u.%u", ENET_VERSION_GET_MAJOR(v), ENET_VERSION_GET_MINOR(v), ENET_VERSION_GET_PATCH(v));
}

static void facts(struct json *j)
{
	char headers[16], line[64];
	version_text(headers, sizeof headers, ENET_VERSION);
	snprintf(line, sizeof line, "compiled with the headers of ENet %s", headers);
	json_open(j, "facts", '[');
	json_text(j, NULL, "language: C");
	json_text(j, NULL, "protocol core: libenet, unchanged, package " ENET_PACKAGE);
	json_text(j, NULL, line);
	json_text(j, NULL, "one reliable ordered channel; no compression, checksum or bandwidth limit");
	json_text(j, NULL, "congestion control: none; the packet throttle scales the window of 64 KiB by round trip times");
	json_text(j, NULL, "resends by timeout only, clock of 1 ms");
	json_close(j, ']');
}

static int describe(struct failure *f)
{
	char version[16];
	struct json j;
	version_text(version, sizeof version, enet_linked_version());
	if (record_begin(&j, "describe", f) < 0)
		return -1;
	json_int(&j, "contract", CONTRACT_VERSION);
	json_text(&j, "transport", "enet");
	json_text(&j, "transport_version", version);
	json_text(&j, "source_commit", SOURCE_COMMIT);
	json_text(&j, "toolchain", "gcc " __VERSION__);
	json_open(&j, "apis", '[');
	json_text(&j, NULL, "send");
	json_close(&j, ']');
	json_open(&j, "features", '[');
	json_close(&j, ']');
	json_bool(&j, "reliable", true);
	json_text(&j, "encryption", "none");
	json_open(&j, "limits", '{');
	json_int(&j, "max_payload", MAX_PAYLOAD);
	json_int(&j, "max_connections", CORE_MAX_CONNECTIONS);
	json_close(&j, '}');
	facts(&j);
	return record_end(&j, f);
}

/* What ../kcp offers and ENet does not. */
static int check(const struct config *c, struct failure *f)
{
	if (c->mtu < ENET_PROTOCOL_MINIMUM_MTU || c->mtu > MTU_MAX)
		return fail(f, FAIL_USAGE, "flag -mtu: ENet datagrams have %d to %d bytes here", ENET_PROTOCOL_MINIMUM_MTU, MTU_MAX);
	if (c->batch)
		return fail(f, FAIL_UNSUPPORTED, "api batch is not supported by this driver");
	if (c->connections > CORE_MAX_CONNECTIONS)
		return fail(f, FAIL_UNSUPPORTED, "%lld connections (at most %d: peers of an ENet host) are not supported by this driver",
		            (long long)c->connections, CORE_MAX_CONNECTIONS);
	if (c->addr.any.sa_family != AF_INET)
		return fail(f, FAIL_UNSUPPORTED, "flag -addr: IPv6 is not supported by this driver");
	return 0;
}

static int play(int argc, char **argv, struct failure *f)
{
	uint64_t began = clock_ns();
	struct config c;
	if (argc == 2 && strcmp(argv[1], "describe") == 0)
		return describe(f);
	if (config_parse(&c, argc - 1, argv + 1, f) < 0 || check(&c, f) < 0)
		return -1;
	if (enet_initialize() != 0)
		return fail(f, FAIL_FAILED, "enet: the library does not start");
	settings_raise_files();
	if (record_hello(&c, f) < 0)
		return -1;
	return c.server ? server_role(&c, began, f) : client_role(&c, began, f);
}

int main(int argc, char **argv)
{
	struct failure f = {0};
	play(argc, argv, &f);
	return f.kind == FAIL_NONE ? 0 : record_failure(&f);
}

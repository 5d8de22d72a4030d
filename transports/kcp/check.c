//go:build ignore

/* Checks an invocation as package wire does, then against what this driver offers. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core.h"
#include "duration.h"
#include "payload.h"

/* Looks text up in a list ended by NULL; -1 when it is not there. */
static int choice(const char *text, const char *const *list)
{
	for (int i = 0; list[i] != NULL; i++)
		if (strcmp(text, list[i]) == 0)
			return i;
	return -1;
}

static int reserved(struct config *c, struct failure *f)
{
	static const char *const suites[] = {"single", "sparse", "concurrent", "loaded", NULL};
	int suite = choice(c->suite_name, suites);
	if (suite < 0)
		return fail(f, FAIL_UNSUPPORTED, "suite \"%.64s\" is not supported by this driver", c->suite_name);
	c->suite = (enum suite)suite;
	if (strcmp(c->workload, "closed") != 0)
		return fail(f, FAIL_UNSUPPORTED, "workload \"%.64s\" is not supported by this driver", c->workload);
	if (c->schedule[0] != '\0')
		return fail(f, FAIL_UNSUPPORTED, "flag -schedule (reserved) is not supported by this driver");
	return 0;
}

static int parse_fault(struct config *c)
{
	static const char *const faults[] = {"none", "flip", "swap", "repeat", "drop", NULL};
	int fault = choice(c->fault_text, faults);
	c->fault = fault < 0 ? FAULT_CUT : (enum fault_kind)fault;
	if (fault >= 0)
		return 0;
	const char *at = c->fault_text + 4;
	if (strncmp(c->fault_text, "cut@", 4) != 0 || *at < '0' || *at > '9')
		return -1;
	char *end;
	c->fault_at = strtoll(at, &end, 10);
	return *end == '\0' ? 0 : -1;
}

static int enums(struct config *c, struct failure *f)
{
	static const char *const roles[] = {"client", "server", NULL}, *const apis[] = {"send", "batch", NULL};
	static const char *const policies[] = {"off", "default", "full", NULL}, *const switches[] = {"off", "on", NULL};
	int role = choice(c->role_name, roles), api = choice(c->api_name, apis);
	if (role < 0)
		return fail(f, FAIL_USAGE, "flag -role: \"%.64s\" is not one of server, client", c->role_name);
	if (api < 0)
		return fail(f, FAIL_USAGE, "flag -api: \"%.64s\" is not one of send, batch", c->api_name);
	if (choice(c->policy_name, policies) < 0)
		return fail(f, FAIL_USAGE, "flag -policy: \"%.64s\" is not one of off, default, full", c->policy_name);
	if (choice(c->gso_text, switches) < 0)
		return fail(f, FAIL_USAGE, "flag -gso: \"%.64s\" is neither on nor off", c->gso_text);
	if (parse_fault(c) < 0)
		return fail(f, FAIL_USAGE, "flag -fault: unknown fault \"%.64s\": want none, flip, swap, repeat, drop or cut@N", c->fault_text);
	if (!duration_parse(c->deadline_text, &c->deadline_ns) || c->deadline_ns <= 0)
		return fail(f, FAIL_USAGE, "flag -deadline: \"%.64s\" is not a positive time", c->deadline_text);
	if (!address_parse(&c->addr, c->addr_text))
		return fail(f, FAIL_USAGE, "flag -addr: \"%.64s\" is not IP:PORT", c->addr_text);
	c->server = role == 1;
	c->batch = api == 1;
	return 0;
}

static int ranges(const struct config *c, struct failure *f)
{
	const struct {
		const char *name;
		int64_t value, low, high;
	} all[] = {
		{"connections", c->connections, 1, 1 << 20},
		{"messages", c->messages, 1, 1LL << 32},
		{"payload", c->payload, PAYLOAD_MIN, 64 << 20},
		{"window", c->window, 1, 1 << 16},
		{"warmup", c->warmup, 0, 1LL << 32},
		{"samples", c->samples, 0, 1LL << 32},
		{"workers", c->workers, 0, 1 << 16},
		{"listeners", c->listeners, 1, 1 << 16},
		{"mtu", c->mtu, 0, 1 << 16},
		{"rcvbuf", c->rcvbuf, 0, 1 << 30},
		{"sndbuf", c->sndbuf, 0, 1 << 30},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i].value < all[i].low || all[i].value > all[i].high)
			return fail(f, FAIL_USAGE, "flag -%s: %lld is outside %lld..%lld", all[i].name, (long long)all[i].value,
			            (long long)all[i].low, (long long)all[i].high);
	return 0;
}

static int combinations(const struct config *c, struct failure *f)
{
	if (c->connections > 1 && config_one(c))
		return fail(f, FAIL_USAGE, "flag -connections: suite %s has exactly one", c->suite_name);
	if (strcmp(c->policy_name, "full") == 0 && !c->batch)
		return fail(f, FAIL_USAGE, "flag -policy: full is about batch calls: give -api=batch");
	if (c->connections > (1LL << 40) / (c->messages + c->warmup + c->samples))
		return fail(f, FAIL_USAGE, "flag -messages: more than 2^40 messages in all");
	if (!c->server && c->fault != FAULT_NONE)
		return fail(f, FAIL_USAGE, "flag -fault: only the server misbehaves on request");
	if (c->server && c->samples_file[0] != '\0')
		return fail(f, FAIL_USAGE, "flag -samples-file: only the client has samples");
	if (c->mtu != 0 && (c->mtu < CORE_MTU_MIN || c->mtu > CORE_MTU_MAX))
		return fail(f, FAIL_USAGE, "flag -mtu: KCP datagrams have %d to %d bytes here", CORE_MTU_MIN, CORE_MTU_MAX);
	return 0;
}

static int offered(struct config *c, struct failure *f)
{
	int64_t mtu = c->mtu == 0 ? CORE_MTU : c->mtu, segment = mtu - CORE_HEADER;
	if (strcmp(c->policy_name, "off") != 0)
		return fail(f, FAIL_UNSUPPORTED, "policy %s is not supported by this driver", c->policy_name);
	if (c->payload > MAX_PAYLOAD)
		return fail(f, FAIL_UNSUPPORTED, "payload of %lld bytes (at most %d) is not supported by this driver", (long long)c->payload,
		            MAX_PAYLOAD);
	if ((c->payload + segment - 1) / segment > CORE_FRAGMENTS_MAX)
		return fail(f, FAIL_UNSUPPORTED, "payload of %lld bytes at MTU %lld (more than %d fragments) is not supported by this driver",
		            (long long)c->payload, (long long)mtu, CORE_FRAGMENTS_MAX);
	if (c->connections > MAX_CONNECTIONS)
		return fail(f, FAIL_UNSUPPORTED, "%lld connections (at most %d) are not supported by this driver", (long long)c->connections,
		            MAX_CONNECTIONS);
	c->mtu = mtu;
	return 0;
}

int config_check(struct config *c, struct failure *f)
{
	if (reserved(c, f) < 0 || enums(c, f) < 0 || ranges(c, f) < 0 || combinations(c, f) < 0)
		return -1;
	return offered(c, f);
}

bool config_one(const struct config *c) { return c->suite == SUITE_SINGLE || c->suite == SUITE_SPARSE; }

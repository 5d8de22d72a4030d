/* One invocation of the driver: the flags of the contract, parsed and checked. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"
#include "fail.h"

enum suite { SUITE_SINGLE, SUITE_SPARSE, SUITE_CONCURRENT, SUITE_LOADED };
enum fault_kind { FAULT_NONE, FAULT_FLIP, FAULT_SWAP, FAULT_REPEAT, FAULT_DROP, FAULT_CUT };

/* What this driver offers; the published drivers have the same limit of a payload. */
#define MAX_PAYLOAD 65536
#define MAX_CONNECTIONS 8192

struct config {
	bool server;
	enum suite suite;
	union address addr;
	bool batch;
	int64_t connections, messages, warmup, samples, window; /* counts; the first three per connection */
	int64_t payload;                                         /* bytes */
	int64_t workers, listeners;                              /* workers 0: min(4, CPUs of the process) */
	int64_t mtu, rcvbuf, sndbuf;                             /* bytes; 0: default */
	int64_t deadline_ns, seed;
	const char *samples_file; /* empty: none */
	bool stop_on_eof;
	enum fault_kind fault;
	int64_t fault_at; /* message of a cut */

	/* As given, before they are checked. */
	const char *role_name, *suite_name, *addr_text, *api_name, *policy_name, *workload, *schedule, *fault_text, *gso_text;
	const char *deadline_text;
};

/* Parses the arguments after the program's name. Returns 0, or -1 with the failure filled in. */
int config_parse(struct config *c, int argc, char **argv, struct failure *f);

/* Checks what was parsed: reserved values, ranges, combinations, then what this driver offers. */
int config_check(struct config *c, struct failure *f);

/* True in the suites with one connection. */
bool config_one(const struct config *c);

#endif

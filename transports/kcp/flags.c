//go:build ignore

/* Reads the argument list: one or two dashes, "-x v" or "-x=v", the last of a repeated flag counts. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum flag_kind { FLAG_TEXT, FLAG_INT, FLAG_BOOL };

struct flag {
	const char *name;
	enum flag_kind kind;
	size_t offset; /* in struct config */
};

static const struct flag flags[] = {
	{"role", FLAG_TEXT, offsetof(struct config, role_name)},
	{"suite", FLAG_TEXT, offsetof(struct config, suite_name)},
	{"addr", FLAG_TEXT, offsetof(struct config, addr_text)},
	{"api", FLAG_TEXT, offsetof(struct config, api_name)},
	{"policy", FLAG_TEXT, offsetof(struct config, policy_name)},
	{"connections", FLAG_INT, offsetof(struct config, connections)},
	{"messages", FLAG_INT, offsetof(struct config, messages)},
	{"payload", FLAG_INT, offsetof(struct config, payload)},
	{"window", FLAG_INT, offsetof(struct config, window)},
	{"warmup", FLAG_INT, offsetof(struct config, warmup)},
	{"samples", FLAG_INT, offsetof(struct config, samples)},
	{"workers", FLAG_INT, offsetof(struct config, workers)},
	{"listeners", FLAG_INT, offsetof(struct config, listeners)},
	{"mtu", FLAG_INT, offsetof(struct config, mtu)},
	{"rcvbuf", FLAG_INT, offsetof(struct config, rcvbuf)},
	{"sndbuf", FLAG_INT, offsetof(struct config, sndbuf)},
	{"gso", FLAG_TEXT, offsetof(struct config, gso_text)},
	{"workload", FLAG_TEXT, offsetof(struct config, workload)},
	{"schedule", FLAG_TEXT, offsetof(struct config, schedule)},
	{"deadline", FLAG_TEXT, offsetof(struct config, deadline_text)},
	{"samples-file", FLAG_TEXT, offsetof(struct config, samples_file)},
	{"seed", FLAG_INT, offsetof(struct config, seed)},
	{"stop-on-eof", FLAG_BOOL, offsetof(struct config, stop_on_eof)},
	{"fault", FLAG_TEXT, offsetof(struct config, fault_text)},
};

static const struct flag *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strlen(flags[i].name) == length && memcmp(flags[i].name, name, length) == 0)
			return &flags[i];
	return NULL;
}

static bool parse_int(const char *text, int64_t *v)
{
	if (*text != '-' && *text != '+' && (*text < '0' || *text > '9'))
		return false;
	char *end;
	errno = 0;
	long long got = strtoll(text, &end, 0);
	*v = got;
	return errno == 0 && *end == '\0';
}

static bool parse_bool(const char *text, bool *v)
{
	static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"}, *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
		*v = strcmp(text, yes[i]) == 0;
		if (*v || strcmp(text, no[i]) == 0)
			return true;
	}
	return false;
}

static int set(struct config *c, const struct flag *flag, const char *value, struct failure *f)
{
	void *at = (char *)c + flag->offset;
	bool ok = true;
	switch (flag->kind) {
	case FLAG_TEXT:
		*(const char **)at = value;
		break;
	case FLAG_INT:
		ok = parse_int(value, at);
		break;
	case FLAG_BOOL:
		ok = parse_bool(value, at);
		break;
	}
	return ok ? 0 : fail(f, FAIL_USAGE, "flag -%s: invalid value \"%.64s\"", flag->name, value);
}

/* Reads the flag in argv[*i] and its value, and moves *i to the last argument it took. */
static int read_flag(struct config *c, int argc, char **argv, int *i, struct failure *f)
{
	const char *arg = argv[*i], *name = arg + (arg[1] == '-' ? 2 : 1);
	size_t length = strcspn(name, "=");
	const struct flag *flag = find(name, length);
	if (flag == NULL)
		return fail(f, FAIL_USAGE, "usage: unknown flag -%.64s", name);
	if (name[length] == '=')
		return set(c, flag, name + length + 1, f);
	if (flag->kind == FLAG_BOOL)
		return set(c, flag, "true", f);
	if (*i + 1 >= argc)
		return fail(f, FAIL_USAGE, "flag -%s: value is missing", flag->name);
	return set(c, flag, argv[++*i], f);
}

int config_parse(struct config *c, int argc, char **argv, struct failure *f)
{
	*c = (struct config){
		.connections = 1, .messages = 1, .payload = 800, .window = 64, .listeners = 1, .role_name = "", .suite_name = "single",
		.addr_text = "", .api_name = "send", .policy_name = "off", .workload = "closed", .schedule = "", .samples_file = "",
		.deadline_text = "450s", .fault_text = "none", .gso_text = "off",
	};
	for (int i = 0; i < argc; i++) {
		if (argv[i][0] != '-' || argv[i][1] == '\0')
			return fail(f, FAIL_USAGE, "usage: stray argument \"%.64s\": every value belongs to a flag", argv[i]);
		if (read_flag(c, argc, argv, &i, f) < 0)
			return -1;
	}
	return config_check(c, f);
}

//go:build ignore

#define _GNU_SOURCE
#include "settings.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core.h"

/* The published benchmark ran on four workers. */
#define MAX_DEFAULT_WORKERS 4

int64_t settings_workers(const struct config *c)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	if (c->workers > 0)
		return c->workers;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < MAX_DEFAULT_WORKERS ? n : MAX_DEFAULT_WORKERS;
}

void settings_raise_files(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* the record says what holds */
	}
}

static int64_t open_files(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (int64_t)limit.rlim_cur : 0;
}

/* Niceness; -1 is a value too, so an error shows in errno only (getpriority(3)). */
static int niceness(void)
{
	errno = 0;
	int v = getpriority(PRIO_PROCESS, 0);
	return errno == 0 ? v : 0;
}

static int64_t threads(void)
{
	char line[256];
	long n = 0;
	FILE *f = fopen("/proc/self/status", "r");
	if (f == NULL)
		return 0;
	while (n == 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "Threads:", 8) == 0)
			n = strtol(line + 8, NULL, 10);
	fclose(f);
	return n;
}

static void affinity(struct json *j)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	json_open(j, "affinity", '[');
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				json_int(j, NULL, (int64_t)cpu);
	json_close(j, ']');
}

static void session(struct json *j, const struct granted *g)
{
	json_open(j, "transport_window", '[');
	json_int(j, NULL, g->window[0]);
	json_int(j, NULL, g->window[1]);
	json_close(j, ']');
	json_text(j, "congestion_control", "none");
	json_int(j, "min_rto_us", (int64_t)g->min_rto_ms * 1000);
}

void settings_write(struct json *j, const struct config *c, const struct granted *g)
{
	json_open(j, "settings", '{');
	json_int(j, "workers", settings_workers(c));
	json_int(j, "threads", threads());
	affinity(j);
	json_int(j, "nice", niceness());
	json_int(j, "nofile", open_files());
	/* Without the flag the column asks for the published size, and says so once there is a socket. */
	json_int(j, "rcvbuf_requested", c->rcvbuf == 0 && g->rcvbuf > 0 ? CORE_RCVBUF : c->rcvbuf);
	json_int(j, "rcvbuf_granted", g->rcvbuf);
	json_int(j, "sndbuf_requested", c->sndbuf);
	json_int(j, "sndbuf_granted", g->sndbuf);
	json_int(j, "mtu", g->session ? g->mtu : c->mtu);
	json_int(j, "window", c->window);
	if (g->session)
		session(j, g);
	json_bool(j, "gso", false);
	if (c->server)
		json_int(j, "listeners", c->listeners);
	json_text(j, "api", c->api_name);
	json_text(j, "policy", c->policy_name);
	json_close(j, '}');
}

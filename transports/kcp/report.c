//go:build ignore

#include "report.h"

#include "records.h"
#include "samples.h"

/* Connections in one record: at most 60 bytes each leave room in a line. */
#define CHUNK 512

int report_connected(const struct run *r, struct failure *f)
{
	struct granted g = {0};
	struct json j;
	if (record_begin(&j, "connected", f) < 0)
		return -1;
	session_granted(&r->lanes[0].session, &g);
	json_int(&j, "n", r->client.config->connections);
	json_int(&j, "setup_ns", (int64_t)r->setup_ns);
	settings_write(&j, r->client.config, &g);
	return record_end(&j, f);
}

int report_start(const struct run *r, struct failure *f)
{
	struct json j;
	if (record_begin(&j, "start", f) < 0)
		return -1;
	json_int(&j, "mono_ns", (int64_t)r->start_ns);
	return record_end(&j, f);
}

static int connections(const struct run *r, int64_t first, struct failure *f)
{
	int64_t n = r->client.config->connections, last = first + CHUNK < n ? first + CHUNK : n;
	struct json j;
	if (record_begin(&j, "connections", f) < 0)
		return -1;
	json_int(&j, "first", first);
	json_open(&j, "per_connection", '[');
	for (int64_t i = first; i < last; i++) {
		const struct lane *l = &r->lanes[i];
		json_open(&j, NULL, '{');
		json_int(&j, "burst_ns", (int64_t)(l->end_ns - r->start_ns));
		json_int(&j, "rtt_sum_ns", (int64_t)(l->echoed_ns - l->sent_ns));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	return record_end(&j, f);
}

static void totals(struct json *j, const struct run *r)
{
	const struct config *c = r->client.config;
	uint64_t end = r->start_ns, verified = 0;
	int64_t echoes = 0, datagrams = 0, syscalls = 0;
	for (int64_t i = 0; i < c->connections; i++) {
		const struct lane *l = &r->lanes[i];
		end = l->end_ns > end ? l->end_ns : end;
		verified += l->next;
		echoes += l->burst_done;
	}
	for (int64_t i = 0; i < r->crew_size; i++) {
		datagrams += r->crew[i].traffic.datagrams;
		syscalls += r->crew[i].traffic.syscalls;
	}
	json_int(j, "elapsed_ns", (int64_t)(end - r->start_ns));
	json_int(j, "messages", c->connections * c->messages);
	json_int(j, "bytes", echoes * c->payload);
	json_int(j, "verified", (int64_t)verified);
	json_int(j, "lost", 0);
	json_int(j, "datagrams", datagrams);
	json_int(j, "syscalls", syscalls);
}

static int store(const struct run *r, struct failure *f)
{
	const struct config *c = r->client.config;
	bool loaded = r->loaded != NULL;
	const uint64_t *ns = loaded ? r->loaded : r->sparse;
	size_t count = (size_t)(c->connections * (loaded ? c->messages : c->samples));
	if (c->samples_file[0] == '\0')
		return 0;
	return samples_write(c->samples_file, loaded ? SAMPLES_LOADED : SAMPLES_SPARSE, (uint32_t)c->connections, ns, count, f);
}

int report_result(struct run *r, struct failure *f)
{
	const struct config *c = r->client.config;
	struct json j;
	if (store(r, f) < 0)
		return -1;
	for (int64_t first = 0; first < c->connections; first += CHUNK)
		if (connections(r, first, f) < 0)
			return -1;
	if (record_begin(&j, "result", f) < 0)
		return -1;
	totals(&j, r);
	samples_quantiles(&j, "sparse", r->sparse, (size_t)(c->connections * c->samples));
	samples_quantiles(&j, "loaded", r->loaded, (size_t)(c->connections * c->messages));
	return record_end(&j, f);
}

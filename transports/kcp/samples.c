//go:build ignore

#define _GNU_SOURCE
#include "samples.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAGIC "TBRTT1\n"

static void put_le(FILE *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		putc_unlocked((int)(v >> (8 * i) & 0xFF), out);
}

int samples_write(const char *path, int kind, uint32_t connections, const uint64_t *ns, size_t count, struct failure *f)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
	if (out == NULL) {
		fail_errno(f, "samples file %.200s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fputs(MAGIC, out);
	put_le(out, (uint64_t)kind, 1);
	put_le(out, connections, 4);
	put_le(out, count, 8);
	for (size_t i = 0; i < count; i++)
		put_le(out, ns[i], 8);
	int bad = ferror(out);
	if (fclose(out) != 0 || bad)
		return fail_errno(f, "samples file %.200s", path);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Nearest rank: index ceil(n * p / 100) - 1 of the ascending series (transports/wire/README.md). */
static int64_t rank(const uint64_t *ns, size_t count, size_t percent) { return (int64_t)ns[(count * percent + 99) / 100 - 1]; }

void samples_quantiles(struct json *j, const char *key, uint64_t *ns, size_t count)
{
	if (count == 0 || ns == NULL)
		return;
	qsort(ns, count, sizeof *ns, ascending);
	json_open(j, key, '{');
	json_int(j, "n", (int64_t)count);
	json_int(j, "p50_ns", rank(ns, count, 50));
	json_int(j, "p95_ns", rank(ns, count, 95));
	json_int(j, "p99_ns", rank(ns, count, 99));
	json_close(j, '}');
}

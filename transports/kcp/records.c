//go:build ignore

#define _GNU_SOURCE
#include "records.h"

#include <stdio.h>
#include <unistd.h>

#include "core.h"

/* Set by the build: what core was compiled in, and the commit of this repository. */
#ifndef KCP_VERSION
#define KCP_VERSION "unknown"
#endif
#ifndef SOURCE_COMMIT
#define SOURCE_COMMIT "unknown"
#endif

int record_begin(struct json *j, const char *type, struct failure *f)
{
	return json_begin(j, type) < 0 ? fail_errno(f, "record %s", type) : 0;
}

int record_end(struct json *j, struct failure *f) { return json_end(j) < 0 ? fail_errno(f, "record cannot be written") : 0; }

static void facts(struct json *j)
{
	char windows[160];
	snprintf(windows, sizeof windows, "windows asked for: %d/%d single and sparse, %d/%d concurrent and loaded (segments, send/receive)",
	         CORE_SEND_WINDOW, CORE_RECEIVE_WINDOW_ONE, CORE_SEND_WINDOW, CORE_RECEIVE_WINDOW_MANY);
	json_open(j, "facts", '[');
	json_text(j, NULL, "language: C");
	json_text(j, NULL, "protocol core: skywind3000/kcp, unchanged, " KCP_VERSION);
	json_text(j, NULL, "congestion control: none (nc 1)");
	json_text(j, NULL, "nodelay 1, interval 10 ms, fast resend 2, minimum RTO 30 ms; message mode; no FEC");
	json_text(j, NULL, windows);
	json_close(j, ']');
}

int record_describe(struct failure *f)
{
	struct json j;
	if (record_begin(&j, "describe", f) < 0)
		return -1;
	json_int(&j, "contract", CONTRACT_VERSION);
	json_text(&j, "transport", "kcp");
	json_text(&j, "transport_version", KCP_VERSION);
	json_text(&j, "source_commit", SOURCE_COMMIT);
#ifdef __clang__
	json_text(&j, "toolchain", __VERSION__);
#else
	json_text(&j, "toolchain", "gcc " __VERSION__);
#endif
	json_open(&j, "apis", '[');
	json_text(&j, NULL, "send");
	json_text(&j, NULL, "batch");
	json_close(&j, ']');
	json_open(&j, "features", '[');
	json_close(&j, ']');
	json_bool(&j, "reliable", true);
	json_text(&j, "encryption", "none");
	json_open(&j, "limits", '{');
	json_int(&j, "max_payload", MAX_PAYLOAD);
	json_int(&j, "max_connections", MAX_CONNECTIONS);
	json_close(&j, '}');
	facts(&j);
	return record_end(&j, f);
}

int record_hello(const struct config *c, struct failure *f)
{
	const struct granted none = {0};
	struct json j;
	if (record_begin(&j, "hello", f) < 0)
		return -1;
	json_int(&j, "contract", CONTRACT_VERSION);
	json_int(&j, "pid", getpid());
	settings_write(&j, c, &none);
	return record_end(&j, f);
}

int record_failure(const struct failure *f)
{
	struct failure unwritten = {0};
	struct json j;
	fprintf(stderr, "%s\n", f->message);
	if (record_begin(&j, "error", &unwritten) == 0) {
		json_text(&j, "code", failure_code(f->kind));
		json_text(&j, "message", f->message);
		(void)record_end(&j, &unwritten);
	}
	if (unwritten.kind != FAIL_NONE)
		fprintf(stderr, "%s\n", unwritten.message);
	return failure_exit(f->kind);
}

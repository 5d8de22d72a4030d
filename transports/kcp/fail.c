//go:build ignore

#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *code;
	int exit;
} kinds[] = {
	[FAIL_NONE] = {"", 0},
	[FAIL_FAILED] = {"failed", 1},
	[FAIL_USAGE] = {"usage", 2},
	[FAIL_VERIFICATION] = {"verification", 3},
	[FAIL_UNSUPPORTED] = {"unsupported", 127},
	[FAIL_DEADLINE] = {"deadline", 1},
	[FAIL_INTERRUPTED] = {"interrupted", 1},
};

int fail(struct failure *f, enum failure_kind kind, const char *format, ...)
{
	if (f->kind != FAIL_NONE)
		return -1;
	f->kind = kind;
	va_list args;
	va_start(args, format);
	vsnprintf(f->message, sizeof f->message, format, args);
	va_end(args);
	return -1;
}

int fail_errno(struct failure *f, const char *format, ...)
{
	int cause = errno;
	char what[256];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return fail(f, FAIL_FAILED, "%s: %s", what, strerror(cause));
}

const char *failure_code(enum failure_kind kind) { return kinds[kind].code; }

int failure_exit(enum failure_kind kind) { return kinds[kind].exit; }

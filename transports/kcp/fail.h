/* What went wrong in a run, and the exit code and error record that the contract (transports/wire/README.md) gives it. */
#ifndef FAIL_H
#define FAIL_H

enum failure_kind { FAIL_NONE, FAIL_FAILED, FAIL_USAGE, FAIL_VERIFICATION, FAIL_UNSUPPORTED, FAIL_DEADLINE, FAIL_INTERRUPTED };

struct failure {
	enum failure_kind kind;
	char message[512]; /* one line */
};

/* Notes a failure unless f holds one already: the first cause counts. Always returns -1. */
int fail(struct failure *f, enum failure_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with the text of errno appended. */
int fail_errno(struct failure *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *failure_code(enum failure_kind kind);
int failure_exit(enum failure_kind kind);

#endif

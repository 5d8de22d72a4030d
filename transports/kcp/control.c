//go:build ignore

#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

int control_open(struct control *c, bool stop_on_eof, uint64_t deadline, struct failure *f)
{
	sigset_t set;
	*c = (struct control){.signals = -1, .calls = -1, .input = stop_on_eof, .deadline = deadline};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fail_errno(f, "signals");
	c->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	c->calls = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (c->signals < 0 || c->calls < 0)
		return fail_errno(f, "signals");
	return 0;
}

void control_close(struct control *c)
{
	if (c->signals >= 0)
		close(c->signals);
	if (c->calls >= 0)
		close(c->calls);
	c->signals = c->calls = -1;
}

/* Reads what has arrived on standard input away; true at its end. */
static bool input_ended(void)
{
	char waste[4096];
	ssize_t n = read(STDIN_FILENO, waste, sizeof waste);
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

enum control_event control_wait(struct control *c, uint64_t until)
{
	uint64_t end = until != 0 && until < c->deadline ? until : c->deadline, count;
	for (;;) {
		uint64_t now = clock_ns(), left = now < end ? end - now : 0;
		struct timespec rest = {.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};
		struct pollfd fds[] = {{c->signals, POLLIN, 0}, {c->calls, POLLIN, 0}, {c->input ? STDIN_FILENO : -1, POLLIN, 0}};
		int n = ppoll(fds, 3, &rest, NULL);
		if (n > 0 && fds[0].revents != 0)
			return CONTROL_SIGNAL;
		if (clock_ns() >= c->deadline)
			return CONTROL_DEADLINE;
		if (n > 0 && fds[1].revents != 0 && read(c->calls, &count, sizeof count) > 0)
			return CONTROL_CALLED;
		if (n > 0 && fds[2].revents != 0 && input_ended())
			return CONTROL_INPUT_ENDED;
		if (clock_ns() >= end)
			return CONTROL_TIMEOUT;
	}
}

void control_call(struct control *c)
{
	uint64_t one = 1;
	(void)!write(c->calls, &one, sizeof one); /* a counter that is full wakes as well */
}

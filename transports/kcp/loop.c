//go:build ignore

#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Events taken from the kernel in one call (published: 256). */
enum { EVENTS = 256 };

static void woken(struct source *s)
{
	uint64_t count;
	(void)!read(s->fd, &count, sizeof count); /* only the wake-up matters; the tick looks around */
}

int loop_open(struct loop *l, struct failure *f)
{
	l->wake = (struct source){.fd = -1, .ready = woken};
	atomic_init(&l->stop, false);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return fail_errno(f, "event loop");
	l->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (l->wake.fd < 0)
		return fail_errno(f, "event loop");
	return loop_add(l, &l->wake, f);
}

void loop_close(struct loop *l)
{
	if (l->wake.fd >= 0)
		close(l->wake.fd);
	if (l->epoll >= 0)
		close(l->epoll);
	l->wake.fd = l->epoll = -1;
}

int loop_add(struct loop *l, struct source *s, struct failure *f)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, s->fd, &e) < 0 ? fail_errno(f, "event loop") : 0;
}

void loop_run(struct loop *l)
{
	struct epoll_event events[EVENTS];
	while (!atomic_load_explicit(&l->stop, memory_order_acquire)) {
		int n = epoll_wait(l->epoll, events, EVENTS, l->wait_ms(l->user));
		for (int i = 0; i < n; i++) {
			struct source *s = events[i].data.ptr;
			s->ready(s);
		}
		l->tick(l->user);
	}
}

void loop_wake(struct loop *l)
{
	uint64_t one = 1;
	(void)!write(l->wake.fd, &one, sizeof one); /* a counter that is full wakes as well */
}

void loop_stop(struct loop *l)
{
	atomic_store_explicit(&l->stop, true, memory_order_release);
	loop_wake(l);
}

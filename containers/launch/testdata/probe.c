// probe is a driver for the tests of launch.c: its first argument says what it does.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int count_environment(void) {
    int n = 0;
    for (char **e = environ; e && *e; e++) n++;
    return n;
}

static void count_signals(int *blocked, int *ignored) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int sig = 1; sig < SIGRTMIN; sig++) {
        struct sigaction action;
        if (sigismember(&mask, sig) == 1) ++*blocked;
        if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ++*ignored;
    }
}

static int show(void) {
    int death = 0, blocked = 0, ignored = 0;
    struct rlimit files;
    cpu_set_t cpus;
    prctl(PR_GET_PDEATHSIG, &death);
    count_signals(&blocked, &ignored);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
    printf("{\"Environment\":%d,\"Nice\":%d,\"Group\":%d,\"ParentDeath\":%d,\"Blocked\":%d,\"Ignored\":%d,", count_environment(),
           getpriority(PRIO_PROCESS, 0), getpgrp() == getpid(), death, blocked, ignored);
    printf("\"NoFileSoft\":%llu,\"NoFileHard\":%llu,\"Affinity\":[", (unsigned long long)files.rlim_cur,
           (unsigned long long)files.rlim_max);
    const char *separator = "";
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cpus)) printf("%s%zu", separator, i), separator = ",";
    puts("]}");
    return 0;
}

static void on_signal(int sig) { _exit(40 + sig); }

static void wait_for_signal(void) {
    printf("%d\n", getpid());
    fflush(stdout);
    for (;;) pause();
}

static int touch(size_t mib) {
    char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    memset(memory, 1, mib << 20);
    return 0;
}

// orphan leaves a grandchild to PID 1 and waits until it was reaped: a zombie still answers kill(pid, 0).
static int orphan(void) {
    int ends[2];
    pid_t grandchild;
    if (pipe(ends) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        grandchild = fork();
        if (grandchild == 0) _exit(0);
        _exit(write(ends[1], &grandchild, sizeof grandchild) == sizeof grandchild ? 0 : 1);
    }
    waitpid(child, NULL, 0);
    if (read(ends[0], &grandchild, sizeof grandchild) != sizeof grandchild) return 1;
    while (kill(grandchild, 0) == 0) sched_yield();
    puts("gone");
    return 0;
}

// family leaves a child in the group that ignores SIGTERM and holds standard output open.
static void family(void) {
    if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
    }
    wait_for_signal();
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "exit") == 0) return atoi(argv[2]);
    if (strcmp(mode, "kill") == 0) return raise(atoi(argv[2]));
    if (strcmp(mode, "show") == 0) return show();
    if (strcmp(mode, "touch") == 0) return touch((size_t)atoi(argv[2]));
    if (strcmp(mode, "echo") == 0) return puts(argv[2]) < 0;
    if (strcmp(mode, "half") == 0) return write(1, "{\"type\":\"res", 12) == 12 ? raise(SIGKILL) : 1;
    if (strcmp(mode, "orphan") == 0) return orphan();
    if (strcmp(mode, "catch") == 0) signal(SIGTERM, on_signal), signal(SIGINT, on_signal);
    if (strcmp(mode, "family") == 0) family();
    wait_for_signal();
}

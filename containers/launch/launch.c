//go:build ignore

// (The line above keeps the Go tool, which tests this file, from taking it for cgo.)
// launch starts one driver and reports what it used: launch [-cpus LIST] [-nice N] [-nofile N] -- driver args...
//
// It is C, static and small for one reason: wait4's ru_maxrss is never below the resident peak of the process that
// called exec, because exec folds the old image's high-water mark into the new one. A fork of this program holds about
// half a MiB, so a driver's peak is its own.
//
// Exit: the driver's code, 128 + signal, 126 exec failed, 125 a setting could not be made, 2 usage.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_SETTING = 125, EXIT_EXEC = 126, MAX_CPUS = 8192, WORD = 8 * sizeof(unsigned long) };

struct cpus {
    unsigned long bits[MAX_CPUS / WORD];
};

struct options {
    struct cpus cpus;
    bool pin;
    long nice;
    long nofile;
    char **driver;
};

__attribute__((noreturn, format(printf, 2, 3))) static void die(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("launch: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(code);
}

static bool has_cpu(const struct cpus *c, long n) {
    return (c->bits[(size_t)n / WORD] >> ((size_t)n % WORD)) & 1UL;
}

// number reads a whole decimal in low..high at *text and moves *text behind it.
static bool number(const char **text, long low, long high, long *out) {
    if (!strchr("-0123456789", **text) || **text == '\0') return false;
    char *end;
    errno = 0;
    *out = strtol(*text, &end, 10);
    bool ok = errno == 0 && end != *text && *out >= low && *out <= high;
    *text = end;
    return ok;
}

static long parse_number(const char *flag, const char *text, long low, long high) {
    long n;
    const char *rest = text;
    if (!number(&rest, low, high, &n) || *rest != '\0')
        die(EXIT_USAGE, "-%s %s: want a number from %ld to %ld", flag, text, low, high);
    return n;
}

// parse_cpus reads a list as the kernel prints it: 0,2-3.
static struct cpus parse_cpus(const char *text) {
    struct cpus c = {0};
    const char *rest = text;
    for (;;) {
        long first, last;
        if (!number(&rest, 0, MAX_CPUS - 1, &first)) break;
        last = first;
        if (*rest == '-' && (rest++, !number(&rest, first, MAX_CPUS - 1, &last))) break;
        for (long n = first; n <= last; n++) c.bits[(size_t)n / WORD] |= 1UL << ((size_t)n % WORD);
        if (*rest == '\0') return c;
        if (*rest++ != ',') break;
    }
    die(EXIT_USAGE, "-cpus %s: want a list such as 0,2-3", text);
}

static void set_option(struct options *o, const char *flag, const char *value) {
    if (strcmp(flag, "cpus") == 0) {
        o->cpus = parse_cpus(value);
        o->pin = true;
    } else if (strcmp(flag, "nice") == 0) {
        o->nice = parse_number(flag, value, -20, 19);
    } else if (strcmp(flag, "nofile") == 0) {
        o->nofile = parse_number(flag, value, 3, 1L << 30);
    } else {
        die(EXIT_USAGE, "-%s: unknown flag: want -cpus, -nice or -nofile", flag);
    }
}

// parse accepts one or two dashes and "-x v" or "-x=v", as drivers do.
static struct options parse(int argc, char **argv) {
    struct options o = {.nice = 10, .nofile = 16384};
    char **arg = argc > 0 ? argv + 1 : argv;
    for (; *arg && strcmp(*arg, "--") != 0; arg++) {
        char *flag = *arg;
        if (flag[0] != '-') die(EXIT_USAGE, "%s: want -- before the driver", flag);
        flag += flag[1] == '-' ? 2 : 1;
        char *value = strchr(flag, '=');
        if (value) *value++ = '\0';
        else value = *++arg;
        if (!value) die(EXIT_USAGE, "-%s: value is missing", flag);
        set_option(&o, flag, value);
    }
    if (!*arg || !arg[1])
        die(EXIT_USAGE, "driver is missing: launch [-cpus 0,2-3] [-nice 10] [-nofile 16384] -- driver args...");
    o.driver = arg + 1;
    return o;
}

// set_affinity narrows this process, and so the driver, to the wanted CPUs. The kernel drops CPUs it does not allow
// without a word; a driver on fewer CPUs than planned would be another measurement, so that is an error here.
static void set_affinity(const struct cpus *want) {
    struct cpus got = {0};
    if (sched_setaffinity(0, sizeof *want, (const cpu_set_t *)want) != 0)
        die(EXIT_SETTING, "cpus: none of the wanted CPUs can be used here: %s", strerror(errno));
    if (sched_getaffinity(0, sizeof got, (cpu_set_t *)&got) != 0 || memcmp(&got, want, sizeof got) != 0)
        die(EXIT_SETTING, "cpus: some of the wanted CPUs are not allowed here; see Cpus_allowed_list in /proc/self/status");
}

static void apply(const struct options *o) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) die(EXIT_SETTING, "nofile: %s", strerror(errno));
    rlim_t want = (rlim_t)o->nofile < files.rlim_max ? (rlim_t)o->nofile : files.rlim_max;
    if (files.rlim_cur < want) files.rlim_cur = want;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) die(EXIT_SETTING, "nofile %ld: %s", o->nofile, strerror(errno));
    if (setpriority(PRIO_PROCESS, 0, (int)o->nice) != 0)
        die(EXIT_SETTING, "nice %ld: %s; start from a lower nice value", o->nice, strerror(errno));
    if (o->pin) set_affinity(&o->cpus);
}

// become runs in the forked child and does not return. The parent's death takes the driver along, also by SIGKILL.
static void become(char **driver, pid_t parent, int report) {
    static char *no_environment[] = {NULL};
    static const int reset[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD, SIGQUIT};
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_SETTING);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) signal(reset[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(driver[0], driver, no_environment);
    int error = errno;
    if (write(report, &error, sizeof error) < 0) _exit(EXIT_EXEC);
    _exit(EXIT_EXEC);
}

// start forks the driver and returns its pid; *exec_error stays 0 when exec worked, known by the close-on-exec pipe.
static pid_t start(char **driver, int *exec_error) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) die(EXIT_SETTING, "pipe: %s", strerror(errno));
    pid_t self = getpid();
    pid_t pid = fork();
    if (pid < 0) die(EXIT_SETTING, "fork: %s", strerror(errno));
    if (pid == 0) become(driver, self, report[1]);
    setpgid(pid, pid); // as in the child: whoever comes first, the group exists before a signal is forwarded
    close(report[1]);
    ssize_t n;
    do n = read(report[0], exec_error, sizeof *exec_error);
    while (n < 0 && errno == EINTR);
    close(report[0]);
    return pid;
}

// ended looks without reaping, so that the pid still names the driver's group when what is left of it is killed.
static bool ended(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// reap_orphans clears what PID 1 inherits in a container and leaves the driver's own end for wait4.
static void reap_orphans(pid_t driver) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 && info.si_pid != driver) {
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

// supervise forwards signals until the driver has ended, ends what is left of its group and returns its usage.
static int supervise(pid_t pid, const sigset_t *watched, struct rusage *usage) {
    int status = 0;
    while (!ended(pid)) {
        int sig = sigwaitinfo(watched, NULL);
        if (sig == SIGTERM || sig == SIGINT) kill(-pid, sig);
        reap_orphans(pid);
    }
    kill(-pid, SIGKILL);
    while (wait4(pid, &status, 0, usage) < 0 && errno == EINTR) {
    }
    return status;
}

// utf8_length returns the bytes of the valid UTF-8 sequence at s, 0 if there is none (RFC 3629 table 3-7).
static int utf8_length(const unsigned char *s) {
    unsigned char low = 0x80, high = 0xBF;
    int more;
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF) more = 1;
    else if (s[0] >= 0xE0 && s[0] <= 0xEF) more = 2;
    else if (s[0] >= 0xF0 && s[0] <= 0xF4) more = 3;
    else return 0;
    if (s[0] == 0xE0) low = 0xA0;
    if (s[0] == 0xED) high = 0x9F;
    if (s[0] == 0xF0) low = 0x90;
    if (s[0] == 0xF4) high = 0x8F;
    for (int i = 1; i <= more; i++) {
        if (s[i] < low || s[i] > high) return 0;
        low = 0x80, high = 0xBF;
    }
    return more + 1;
}

// print_string writes one JSON string; a byte that is not UTF-8 becomes U+FFFD.
static void print_string(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    putchar('"');
    while (*s) {
        int n = utf8_length(s);
        if (n == 0) fputs("\\ufffd", stdout), n = 1;
        else if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F) printf("\\u%04x", *s);
        else fwrite(s, 1, (size_t)n, stdout);
        s += n;
    }
    putchar('"');
}

static long long microseconds(struct timeval t) { return (long long)t.tv_sec * 1000000 + t.tv_usec; }

static void print_affinity(void) {
    struct cpus got = {0};
    const char *separator = "";
    if (sched_getaffinity(0, sizeof got, (cpu_set_t *)&got) != 0) die(EXIT_SETTING, "affinity: %s", strerror(errno));
    for (long n = 0; n < MAX_CPUS; n++)
        if (has_cpu(&got, n)) printf("%s%ld", separator, n), separator = ",";
}

// print_exit writes the record; its fields are those of wire.Exit. It starts with a newline because a driver that was
// killed may have left half a line.
static void print_exit(char **argv, int status, int exec_error, const struct rusage *usage) {
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16); // one write for the whole record
    fputs("\n{\"type\":\"exit\",\"argv\":[", stdout);
    for (size_t i = 0; argv[i]; i++) {
        if (i) putchar(',');
        print_string(argv[i]);
    }
    printf("],\"status\":%d,\"signal\":%d", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (exec_error) printf(",\"exec_errno\":%d", exec_error);
    printf(",\"max_rss_kib\":%ld,\"user_us\":%lld,\"system_us\":%lld", usage->ru_maxrss, microseconds(usage->ru_utime),
           microseconds(usage->ru_stime));
    printf(",\"voluntary_switches\":%ld,\"involuntary_switches\":%ld", usage->ru_nvcsw, usage->ru_nivcsw);
    printf(",\"nofile_soft\":%llu,\"nofile_hard\":%llu", (unsigned long long)files.rlim_cur,
           (unsigned long long)files.rlim_max);
    printf(",\"nice\":%d,\"affinity\":[", getpriority(PRIO_PROCESS, 0));
    print_affinity();
    fputs("]}\n", stdout);
    if (fflush(stdout) != 0) fprintf(stderr, "launch: exit record: %s\n", strerror(errno));
}

// block_signals makes the watched signals wait for sigwaitinfo; a blocked signal reaches even PID 1.
static sigset_t block_signals(void) {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    signal(SIGCHLD, SIG_DFL); // an inherited SIG_IGN would make the kernel reap the driver and lose its usage
    signal(SIGPIPE, SIG_IGN);
    return watched;
}

int main(int argc, char **argv) {
    struct rusage usage = {0};
    int exec_error = 0;
    struct options o = parse(argc, argv);
    apply(&o);
    sigset_t watched = block_signals();
    pid_t pid = start(o.driver, &exec_error);
    int status = supervise(pid, &watched, &usage);
    print_exit(o.driver, status, exec_error, &usage);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

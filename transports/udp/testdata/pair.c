// pair is an independent UDP echo for comparison: pair server PORT | pair client PORT PAYLOAD WINDOW COUNT.
// It shares nothing with the driver but the two system calls. The client keeps WINDOW datagrams under way, compares each echo
// with what it sent, and prints echoes a second. A lost datagram ends it: the comparison is only meant for a clean path.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, ROOM = 2048, BUFFER = 2 << 20 };

static struct mmsghdr msgs[BATCH];
static struct iovec iovs[BATCH];
static struct sockaddr_in peers[BATCH];
static unsigned char data[BATCH][ROOM];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int open_socket(const char *port, int serve) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct timeval patience = {.tv_usec = 500000};
    int size = BUFFER, fd = socket(AF_INET, SOCK_DGRAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (!serve) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int failed = serve ? bind(fd, (struct sockaddr *)&at, sizeof at) : connect(fd, (struct sockaddr *)&at, sizeof at);
    if (failed) die("socket");
    return fd;
}

static void prepare(int named, size_t size) {
    for (int i = 0; i < BATCH; i++) {
        iovs[i] = (struct iovec){data[i], size};
        msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iovs[i], .msg_iovlen = 1};
        if (named) msgs[i].msg_hdr.msg_name = &peers[i], msgs[i].msg_hdr.msg_namelen = sizeof peers[i];
    }
}

static void send_all(int fd, int n) {
    for (int sent = 0; sent < n;) {
        int k = sendmmsg(fd, msgs + sent, (unsigned)(n - sent), 0);
        if (k < 0) die("sendmmsg");
        sent += k;
    }
}

static void serve(int fd) {
    puts("ready");
    fflush(stdout);
    for (;;) {
        prepare(1, ROOM);
        int n = recvmmsg(fd, msgs, BATCH, MSG_WAITFORONE, NULL);
        if (n < 0) die("recvmmsg");
        for (int i = 0; i < n; i++) iovs[i].iov_len = msgs[i].msg_len;
        send_all(fd, n);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run(int fd, size_t payload, int window, long count) {
    long sent = 0, echoed = 0;
    double start = seconds();
    memset(data, 0xA5, sizeof data);
    prepare(0, payload);
    for (int left = window; left > 0; left -= BATCH) send_all(fd, left < BATCH ? left : BATCH);
    for (sent = window; echoed < count;) {
        int n = recvmmsg(fd, msgs, BATCH, MSG_WAITFORONE, NULL);
        if (n <= 0) die("recvmmsg");
        for (int i = 0; i < n; i++)
            if (msgs[i].msg_len != payload || data[i][0] != 0xA5 || memcmp(data[i], data[i] + 1, payload - 1) != 0) abort();
        echoed += n;
        int more = count - sent < n ? (int)(count - sent) : n;
        if (more > 0) send_all(fd, more);
        sent += more;
    }
    printf("%.0f\n", (double)count / (seconds() - start));
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "server") == 0) serve(open_socket(argv[2], 1));
    if (argc != 6) return 2;
    run(open_socket(argv[2], 0), (size_t)atol(argv[3]), atoi(argv[4]), atol(argv[5]));
}

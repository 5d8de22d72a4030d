// tcppair is an independent TCP echo with the driver's records: tcppair server PORT | tcppair client|client2 PORT PAYLOAD WINDOW
// COUNT. A record is a 4-byte length and the payload: one write, one read for the length, one for the payload, nothing buffered.
// The client keeps WINDOW records under way, compares each echo and prints echoes a second. client has one thread, so most of its
// acknowledgements travel with data; client2 has one that sends and one that receives, as the published workload wants.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 4, ROOM = 1 << 16 };

static unsigned char in[HEAD + ROOM], out[HEAD + ROOM];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static struct sockaddr_in address(const char *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

static void no_delay(int fd) {
    int one = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) die("nodelay");
}

static int receive(int fd, unsigned char *to, size_t n) {
    for (size_t got = 0; got < n;) {
        ssize_t k = read(fd, to + got, n - got);
        if (k <= 0) return 0;
        got += (size_t)k;
    }
    return 1;
}

static void send_record(int fd, const unsigned char *record, size_t n) {
    for (size_t sent = 0; sent < n;) {
        ssize_t k = write(fd, record + sent, n - sent);
        if (k <= 0) die("write");
        sent += (size_t)k;
    }
}

static size_t receive_record(int fd) {
    uint32_t n;
    if (!receive(fd, in, HEAD)) return 0;
    memcpy(&n, in, HEAD); // little endian, as the machines this runs on
    if (n > ROOM || !receive(fd, in + HEAD, n)) return 0;
    return n;
}

static void serve(const char *port) {
    struct sockaddr_in at = address(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1)) die("listen");
    puts("ready");
    fflush(stdout);
    int conn = accept(fd, NULL, NULL);
    no_delay(conn);
    for (size_t n; (n = receive_record(conn)) > 0;) send_record(conn, in, HEAD + n);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct {
    int fd;
    uint32_t payload;
    long count;
    sem_t permits;
} load;

static int dial(const char *port) {
    struct sockaddr_in at = address(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) die("connect");
    no_delay(fd);
    return fd;
}

static void verify(void) {
    if (receive_record(load.fd) != load.payload || memcmp(in, out, HEAD + load.payload) != 0) abort();
}

static void one_thread(long window) {
    for (long i = 0; i < window; i++) send_record(load.fd, out, HEAD + load.payload);
    for (long echoed = 0; echoed < load.count; echoed++) {
        verify();
        if (echoed + window < load.count) send_record(load.fd, out, HEAD + load.payload);
    }
}

static void *send_all(void *unused) {
    for (long i = 0; i < load.count; i++) {
        while (sem_wait(&load.permits)) {} // a signal
        send_record(load.fd, out, HEAD + load.payload);
    }
    return unused;
}

static void two_threads(long window) {
    pthread_t sender;
    if (sem_init(&load.permits, 0, (unsigned)window) || pthread_create(&sender, NULL, send_all, NULL)) die("sender");
    for (long echoed = 0; echoed < load.count; echoed++) {
        verify();
        if (sem_post(&load.permits)) die("permit");
    }
    pthread_join(sender, NULL);
}

static void run(void (*burst)(long), const char *port, long window) {
    load.fd = dial(port);
    memset(out, 0xA5, sizeof out);
    memcpy(out, &load.payload, HEAD);
    double start = seconds();
    burst(window);
    printf("%.0f\n", (double)load.count / (seconds() - start));
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "server") == 0) {
        serve(argv[2]);
        return 0;
    }
    if (argc != 6) return 2;
    load.payload = (uint32_t)atol(argv[3]);
    load.count = atol(argv[5]);
    run(strcmp(argv[1], "client2") == 0 ? two_threads : one_thread, argv[2], atol(argv[4]));
}

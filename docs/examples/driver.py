#!/usr/bin/env python3
"""A driver in 150 lines: echo over TCP, a length before each message. It keeps transports/wire/README.md and is made to be read."""
import argparse, concurrent.futures, contextlib, json, os, queue, re, resource, select, signal, socket, struct, sys, threading, time
TEXTS = {"role": ("", "server|client"), "suite": ("single", ".*"), "addr": ("", "[0-9.]+:[0-9]+"), "workload": ("closed", ".*"),
         "api": ("send", "send|batch"), "policy": ("off", "off|default|full"), "gso": ("off", "off|on"), "samples-file": ("", ".*"),
         "schedule": ("", ".*"), "deadline": ("450s", "([0-9.]+(ns|us|ms|s|m|h))+"), "fault": ("none", "none|flip|swap|repeat|drop|cut@[0-9]+")}
NUMBERS = {"connections": (1, 1, 20), "messages": (1, 1, 32), "payload": (800, 17, 26), "window": (64, 1, 16), "warmup": (0, 0, 32),
           "samples": (0, 0, 32), "workers": (0, 0, 16), "listeners": (1, 1, 16), "mtu": (0, 0, 16), "rcvbuf": (0, 0, 30),
           "sndbuf": (0, 0, 30), "seed": (0, -1 << 63, 64)}  # default, least, and most as a power of 2
UNITS, EXITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}, {"usage": 2, "verification": 3, "unsupported": 127}
LIMITS, FIRST_PORT = {"max_payload": 4096, "max_connections": 64}, 24000  # a window must fit the socket buffers; connections are threads
frame, turn = lambda message: struct.pack("<I", len(message)) + message, threading.RLock()  # who has the turn may write a record
quantiles = lambda s: {"n": len(s), **{f"p{p}_ns": sorted(s)[-(-len(s) * p // 100) - 1] for p in (50, 95, 99)}} if s else None

def emit(kind, **fields):
    with turn:
        os.write(1, json.dumps({"type": kind, **fields}).encode() + b"\n")

def die(code, message):
    with turn:  # kept to the end: no other thread may write any more
        emit("error", code=code, message=message)
        print(message, file=sys.stderr, flush=True)
        os._exit(EXITS.get(code, 1))

def parse(args):
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.error = lambda message: die("usage", message)
    for name, (default, *_) in (TEXTS | NUMBERS).items():
        parser.add_argument("-" + name, "--" + name, default=default, type=type(default))
    parser.add_argument("-stop-on-eof", "--stop-on-eof", nargs="?", const="true", default="false", choices=("true", "false"))
    c = parser.parse_args(args)
    if c.suite not in ("single", "sparse", "concurrent", "loaded") or c.workload != "closed" or c.schedule:
        die("unsupported", f"suite {c.suite}, workload {c.workload}: not supported")
    bad = [n for n, (_, pattern) in TEXTS.items() if not re.fullmatch(pattern, getattr(c, n.replace("-", "_")))]
    for name in bad + [n for n, (_, low, bits) in NUMBERS.items() if not low <= getattr(c, n) <= 1 << bits]:
        die("usage", f"flag -{name}: no such value")
    c.one, c.total, (host, port) = c.suite in ("single", "sparse"), c.warmup + c.samples + c.messages, c.addr.split(":")
    if (c.policy == "full" and c.api == "send" or c.one and c.connections > 1 or c.connections * c.total > 1 << 40
            or (c.samples_file if c.role == "server" else c.fault != "none")):
        die("usage", "flags contradict each other")
    if c.api != "send" or c.policy != "off" or c.payload > LIMITS["max_payload"] or c.connections > LIMITS["max_connections"]:
        die("unsupported", f"api batch, policies and more than {LIMITS}: not supported")
    return argparse.Namespace(**vars(c) | {"addr": (host, int(port))})

def settings(c, s=None):
    cpus, option = sorted(os.sched_getaffinity(0)), lambda *name: s.getsockopt(*name) if s else 0
    return {"workers": c.workers or min(4, len(cpus)), "threads": threading.active_count(), "affinity": cpus, "nice": os.nice(0),
            "nofile": resource.getrlimit(resource.RLIMIT_NOFILE)[0], "rcvbuf_requested": c.rcvbuf, "sndbuf_requested": c.sndbuf,
            "rcvbuf_granted": option(socket.SOL_SOCKET, socket.SO_RCVBUF), "sndbuf_granted": option(socket.SOL_SOCKET, socket.SO_SNDBUF),
            "congestion_control": s and option(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode(), "window": c.window,
            "gso": False, "api": c.api, "policy": c.policy, "listeners": c.listeners if c.role == "server" else 0}

def new_socket(c, at, share):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option, value in (socket.SO_REUSEADDR, 1), (socket.SO_REUSEPORT, share), (socket.SO_RCVBUF, c.rcvbuf), (socket.SO_SNDBUF, c.sndbuf):
        value and s.setsockopt(socket.SOL_SOCKET, option, value)
    s.bind(at)
    return s

def receive(s):
    try:
        return s.recv(int.from_bytes(s.recv(4, socket.MSG_WAITALL), "little"), socket.MSG_WAITALL)
    except OSError:
        return b""  # as when the other side has left

def echo(c, s, count, fault_left):
    fault, _, at = c.fault.partition("@")
    left, held = int(at) if at else c.warmup + c.samples + (c.messages - (fault == "swap")) // 2, []  # a swap needs a successor
    while message := receive(s):
        answers, held = [message, *held], []
        if left == 0 and fault != "none" and fault_left.acquire(blocking=False):  # once in the server's life
            if fault == "cut":
                return s.close()
            held = answers if fault == "swap" else []
            answers = {"flip": [message[:-1] + bytes([message[-1] ^ 1])], "repeat": [message, message]}.get(fault, [])
        left, count[1] = left - 1, count[1] + len(answers)
        s.sendall(b"".join(map(frame, answers)))

def server(c):
    threading.excepthook = lambda _: None  # a client that leaves ends its thread
    counts, listeners, fault_left = [], [], threading.Semaphore()  # counts: [listener, messages] of each connection
    def done(*_):
        each = [sum(n for at, n in counts if at == i) for i in range(c.listeners)]
        sys.exit(emit("done", connections=len(counts), messages=sum(each), per_listener=each))
    signal.signal(signal.SIGTERM, done), signal.signal(signal.SIGINT, done)
    for _ in range(c.listeners):
        listeners.append(new_socket(c, listeners[0].getsockname() if listeners else c.addr, c.listeners > 1))
        listeners[-1].listen(1024)
    emit("ready", addr="%s:%d" % listeners[0].getsockname())
    while True:
        for ready in select.select(listeners + [0] * (c.stop_on_eof == "true"), [], [])[0]:
            if ready == 0:
                os.read(0, 4096) or done()
            else:
                counts.append([listeners.index(ready), 0])
                threading.Thread(target=echo, args=(c, ready.accept()[0], counts[-1], fault_left), daemon=True).start()

def lane(c, index, s, barrier):
    payload = lambda number: (b"\xfe" + struct.pack("<QQ", index, number)).ljust(c.payload, b"\xfe")
    first, stamps, rtts, places = c.total - c.messages, queue.SimpleQueue(), [], threading.Semaphore(c.window)
    def send(numbers):
        for message in map(frame, map(payload, numbers)):
            stamps.put(time.monotonic_ns())
            with contextlib.suppress(OSError):  # the missing echo will tell
                s.sendall(message)
    def take(number):
        if receive(s) != payload(number):
            die("verification", f"connection {index} message {number}: echo is wrong or missing")
        rtts.append((now := time.monotonic_ns()) - stamps.get())
        return now
    [(send([number]), take(number)) for number in range(first)]
    barrier.wait()
    if c.one:  # a sender beside this thread, which receives
        threading.Thread(target=send, args=((n for n in range(first, c.total) if places.acquire()),), daemon=True).start()
    send(range(first, c.total)[:0 if c.one else c.window])
    for number in range(first, c.total):
        end = take(number)
        places.release() if c.one else send(range(number + c.window, c.total)[:1])
    return end, rtts

def client(c):
    [signal.signal(number, lambda *_: die("interrupted", "client: stopped by a signal")) for number in (signal.SIGTERM, signal.SIGINT)]
    began, start = time.monotonic_ns(), []
    sockets = [new_socket(c, ("", FIRST_PORT + i), 0) for i in range(c.connections)]
    [s.connect(c.addr) for s in sockets]
    emit("connected", n=len(sockets), setup_ns=time.monotonic_ns() - began, settings=settings(c, sockets[0]))
    barrier = threading.Barrier(len(sockets), lambda: (start.append(time.monotonic_ns()), emit("start", mono_ns=start[0])))
    with concurrent.futures.ThreadPoolExecutor(len(sockets)) as pool:
        ends, rtts = zip(*pool.map(lambda i: lane(c, i, sockets[i], barrier), range(len(sockets))))
    if any(s.recv(1) for s in select.select(sockets, [], [], 0.025)[0]):
        die("verification", "client: surplus echo after the last one")
    rounds, burst = [ns for r in rtts for ns in r[c.warmup:-c.messages]], [ns for r in rtts for ns in r[-c.messages:]]
    loaded, kept = (burst, burst) if c.suite == "loaded" else ([], rounds)
    if c.samples_file:
        with open(c.samples_file, "xb") as f:
            f.write(b"TBRTT1\n" + struct.pack(f"<BIQ{len(kept)}Q", 2 if loaded else 1, len(sockets), len(kept), *kept))
    emit("result", elapsed_ns=max(ends) - start[0], messages=len(burst), bytes=len(burst) * c.payload, lost=0,
         verified=sum(map(len, rtts)), sparse=quantiles(rounds), loaded=quantiles(loaded),
         per_connection=[{"burst_ns": end - start[0], "rtt_sum_ns": sum(r[-c.messages:])} for end, r in zip(ends, rtts)])

if sys.argv[1:] == ["describe"]:
    sys.exit(emit("describe", contract=1, transport="tcp", transport_version="python", source_commit="unknown", apis=["send"], features=[],
                  toolchain="python " + sys.version.split()[0], reliable=True, encryption="none", limits=LIMITS))
config = parse(sys.argv[1:])
sys.excepthook = lambda _, error, trace: die("failed", f"{config.role}: {error}")
signal.signal(signal.SIGALRM, lambda *_: die("deadline", f"{config.role}: the deadline of {config.deadline} has passed"))
signal.setitimer(signal.ITIMER_REAL, sum(float(n) * UNITS[u] for n, u in re.findall("([0-9.]+)([a-z]+)", config.deadline)))
emit("hello", contract=1, pid=os.getpid(), settings=settings(config))
server(config) if config.role == "server" else client(config)

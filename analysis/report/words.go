package report

import "transportbench/transports/wire"

// suiteNote says how to read a suite's numbers.
func suiteNote(suite string) string {
	switch suite {
	case wire.SuiteSingle:
		return "One connection with a full window. Throughput is verified echoed payload per direction, 1 MiB = 1,048,576 B. Processes are not pinned."
	case wire.SuiteSparse:
		return "One request at a time: each waits for its echo. Percentiles are nearest rank within a run, then the median of the runs. An upper confidence bound of p99 exists from 299 samples on, of p99.9 from 2,995 on."
	case wire.SuiteConcurrent:
		return "Many connections at once, each with its own window. Throughput is verified echoed payload per direction of all connections together."
	}
	return "Closed loop: every connection keeps its window full, so a loaded RTT is throughput seen from the other side; only its shape is new. Nothing is corrected for coordinated omission. These runs are not those of the throughput table."
}

// notCompared lists the differences that no number here accounts for.
func notCompared() []entry {
	return []entry{
		{"Encryption", "quic-go encrypts every packet (TLS 1.3); TCP, RakNet, KCP and raw UDP here do not."},
		{"Congestion control", "TCP and QUIC share a path with others; RakNet, KCP and raw UDP send a fixed window. What they do to other traffic is not measured."},
		{"Forward error correction", "No column uses it."},
		{"Windows and timers", "Flow-control windows, minimum retransmission timeouts and acknowledgement delays are each transport's own or the published setting; the header of each table names them."},
		{"Offload", "Segmentation offload is off except where a column says otherwise. Real network cards behave differently."},
		{"The network", "Loopback moves packets by copying memory: these tests are bound by the CPU, which is why CPU time stands beside throughput. There is no bandwidth limit, no queue of a router, no reordering and no burst of loss."},
		{"Order and completeness", "They are asserted by the client that received the echoes, the producer of these numbers. Only byte counts and the server's own counts are checked against it."},
		{"Language and runtime", "Columns differ in language, scheduler and garbage collector; a column measures an implementation, not a protocol."},
		{"Other machines", "One machine, one day. Pinning does not reserve CPUs for anyone."},
	}
}

func glossary() []entry {
	return []entry{
		{"payload, message", "A message is the unit that is sent and echoed; its payload is the application's bytes."},
		{"window", "How many messages of a connection may await their echo."},
		{"burst", "The measured part of a run: all messages sent with a full window."},
		{"throughput", "Verified echoed payload per direction over the time of the burst, in MiB/s."},
		{"RTT", "From just before a message is sent until its echo has been verified. Sparse: one at a time. Loaded: during the burst."},
		{"p50, p95, p99", "Nearest rank within one run: the value at position ceil(n x p). Shown is the median of the runs, with the least and the greatest."},
		{"loss, delay", "Injected per packet and independently in each direction; delay is one way, so an RTT has it twice."},
		{"peak RSS", "The whole process's peak resident memory as the kernel counts it, C for client and S for server, without socket buffers. Two values closer than one counter step are equal."},
		{"profile, column, cell", "A profile is a row, a column is one implementation in one API mode, a cell is where they meet."},
		{"run, repetition, block", "A run is one measurement of a cell with fresh processes. A block is all columns of one profile and repetition, measured one after the other."},
		{"range", "Least and greatest run. Nothing is trimmed, no run is removed and no slow run is repeated silently."},
		{"unsupported", "The run could not be tried here; the reason names what is missing. It is neither a failure nor a zero."},
		{"Jain index", "Fairness between a run's connections: 1 when all are equally fast, 1/N when one has everything."},
		{"window ceiling", "Window x payload / RTT: what a full window can carry at most when a delay is injected."},
		{"=", "Not distinguished by the runs at hand. It does not say that two columns are equal."},
	}
}

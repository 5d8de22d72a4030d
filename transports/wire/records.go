package wire

// Record types on a driver's standard output, one JSON object a line. Times are in ns of CLOCK_MONOTONIC, sizes in bytes.
const (
	TypeDescribe    = "describe"
	TypeHello       = "hello"
	TypeReady       = "ready"
	TypeConnected   = "connected"
	TypeStart       = "start"
	TypeConnections = "connections"
	TypeResult      = "result"
	TypeDone        = "done"
	TypeError       = "error"
	TypeExit        = "exit" // written by launch, never by a driver
)

// Limits of a driver's standard output, in bytes. A reader fails the run at the first line or byte beyond them.
const (
	MaxLine  = 64 << 10 // one line without its newline
	MaxTotal = 1 << 20
)

// connectionsChunk is how many connections one `connections` record carries: at 13 digits a figure 512 take 28 KiB of the 64.
const connectionsChunk = 512

// Describe answers `driver describe`.
type Describe struct {
	Type             string   `json:"type"`
	Contract         int      `json:"contract"`
	Transport        string   `json:"transport"`
	TransportVersion string   `json:"transport_version"`
	SourceCommit     string   `json:"source_commit"`
	Toolchain        string   `json:"toolchain"`
	APIs             []string `json:"apis"`
	Features         []string `json:"features"`
	Reliable         bool     `json:"reliable"`   // false: lost echoes are counted, not repaired
	Encryption       string   `json:"encryption"` // "none" or the protocol's name
	Limits           Limits   `json:"limits"`
	Facts            []string `json:"facts,omitempty"` // free text shown beside the column: congestion control, minimum RTO, language
}

// Limits bounds what a driver accepts.
type Limits struct {
	MaxPayload     int `json:"max_payload"`
	MaxConnections int `json:"max_connections"`
}

// Hello is the first record of every run.
type Hello struct {
	Type     string   `json:"type"`
	Contract int      `json:"contract"`
	PID      int      `json:"pid"`
	Settings Settings `json:"settings"`
}

// Settings are effective values, read back after they were set; a field that does not apply is absent.
type Settings struct {
	Workers    int    `json:"workers"`
	GOMAXPROCS int    `json:"gomaxprocs,omitempty"`
	GOGC       string `json:"gogc,omitempty"`
	GOMEMLIMIT string `json:"gomemlimit,omitempty"`
	Threads    int    `json:"threads"`
	Affinity   []int  `json:"affinity"`
	Nice       int    `json:"nice"`
	NoFile     uint64 `json:"nofile"`

	RcvBufRequested int `json:"rcvbuf_requested"`
	RcvBufGranted   int `json:"rcvbuf_granted"`
	SndBufRequested int `json:"sndbuf_requested"`
	SndBufGranted   int `json:"sndbuf_granted"`

	MTU               int     `json:"mtu,omitempty"`
	Window            int     `json:"window"`
	TransportWindow   *[2]int `json:"transport_window,omitempty"` // send, receive window of the protocol core
	CongestionControl string  `json:"congestion_control,omitempty"`
	MinRTOUS          int64   `json:"min_rto_us,omitempty"`
	GSO               bool    `json:"gso"`
	Listeners         int     `json:"listeners,omitempty"`
	API               string  `json:"api"`
	Policy            string  `json:"policy"`
}

// Ready says where the server listens.
type Ready struct {
	Type string `json:"type"`
	Addr string `json:"addr"`
}

// Connected follows the last handshake of a client. Settings of a connected socket are only known now.
type Connected struct {
	Type     string    `json:"type"`
	N        int       `json:"n"`
	SetupNS  int64     `json:"setup_ns"`
	Settings *Settings `json:"settings,omitempty"`
}

// Start is written at the release of the burst barrier.
type Start struct {
	Type   string `json:"type"`
	MonoNS int64  `json:"mono_ns"`
}

// Quantiles summarises one RTT series: nearest rank, index ceil(n*p)-1.
type Quantiles struct {
	N     int   `json:"n"`
	P50NS int64 `json:"p50_ns"`
	P95NS int64 `json:"p95_ns"`
	P99NS int64 `json:"p99_ns"`
}

// Result is the measurement of a client.
type Result struct {
	Type      string       `json:"type"`
	ElapsedNS int64        `json:"elapsed_ns"` // barrier release to last verified echo
	Messages  int64        `json:"messages"`   // burst messages sent, all connections
	Bytes     int64        `json:"bytes"`      // verified burst payload, one direction
	Verified  int64        `json:"verified"`   // verified echoes: warmup, samples and burst
	Lost      int64        `json:"lost"`       // unreliable transports only
	Sparse    *Quantiles   `json:"sparse,omitempty"`
	Loaded    *Quantiles   `json:"loaded,omitempty"`
	PerConn   []ConnResult `json:"per_connection,omitempty"`
	Datagrams *int64       `json:"datagrams,omitempty"` // sent by the client, where the driver knows
	Syscalls  *int64       `json:"syscalls,omitempty"`
}

// Connections carries the per-connection part of a result, in chunks just before it: connections First, First+1, ... A reader
// appends the chunks and hands them over as Result.PerConn.
type Connections struct {
	Type    string       `json:"type"`
	First   int          `json:"first"`
	PerConn []ConnResult `json:"per_connection"`
}

// ConnResult is one connection's share of a burst.
type ConnResult struct {
	BurstNS  int64 `json:"burst_ns"`   // barrier release to the connection's last echo
	RTTSumNS int64 `json:"rtt_sum_ns"` // sum over its burst messages, each stamped just before its send
}

// Done closes a server's output.
type Done struct {
	Type        string  `json:"type"`
	Connections int64   `json:"connections"`
	Messages    int64   `json:"messages"`
	PerListener []int64 `json:"per_listener"`
	// Settings are those of the first accepted connection, which nobody knew when hello was written.
	Settings *Settings `json:"settings,omitempty"`
}

// Error explains a non-zero exit; at most one, and the last record of the driver.
type Error struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Exit is launch's account of the driver.
type Exit struct {
	Type       string   `json:"type"`
	Argv       []string `json:"argv"`
	Status     int      `json:"status"` // exit code, or -1 when a signal ended it
	Signal     int      `json:"signal"`
	ExecErrno  int      `json:"exec_errno,omitempty"`
	MaxRSSKiB  int64    `json:"max_rss_kib"`
	UserUS     int64    `json:"user_us"`
	SystemUS   int64    `json:"system_us"`
	VolCtx     int64    `json:"voluntary_switches"`
	InvolCtx   int64    `json:"involuntary_switches"`
	NoFileSoft uint64   `json:"nofile_soft"`
	NoFileHard uint64   `json:"nofile_hard"`
	Nice       int      `json:"nice"`
	Affinity   []int    `json:"affinity"`
}

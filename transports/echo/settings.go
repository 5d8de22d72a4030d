package echo

import (
	"runtime"
	"runtime/metrics"
	"strconv"

	"transportbench/transports/wire"
)

// maxDefaultWorkers is the worker count of the published benchmark, used unless -workers says otherwise.
const maxDefaultWorkers = 4

// Workers is the number of worker threads for cfg: -workers, or min(4, CPUs the process may use).
func Workers(cfg wire.Config) int {
	if cfg.Workers > 0 {
		return cfg.Workers
	}
	return max(1, min(maxDefaultWorkers, len(affinity())))
}

// ProcessSettings reads back what holds for this process now. What a socket was granted is not known yet: Conn.Settings adds it.
func ProcessSettings(cfg wire.Config) wire.Settings {
	s := wire.Settings{
		Workers: Workers(cfg), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Threads: threads(), Affinity: affinity(), Nice: nice(), NoFile: openFiles(),
		RcvBufRequested: cfg.RcvBuf, SndBufRequested: cfg.SndBuf,
		MTU: cfg.MTU, Window: cfg.Window, API: cfg.API, Policy: cfg.Policy,
	}
	if cfg.Role == wire.RoleServer {
		s.Listeners = cfg.Listeners
	}
	s.GOGC, s.GOMEMLIMIT = collector()
	return s
}

// collector returns GOGC and GOMEMLIMIT as the runtime holds them, in the notation of the environment variables.
func collector() (gogc, limit string) {
	read := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(read)
	gogc, limit = "off", "off"
	if v := read[0].Value; v.Kind() == metrics.KindUint64 && v.Uint64() < 1<<31 {
		gogc = strconv.FormatUint(v.Uint64(), 10)
	}
	if v := read[1].Value; v.Kind() == metrics.KindUint64 && v.Uint64() < 1<<62 {
		limit = strconv.FormatUint(v.Uint64(), 10)
	}
	return gogc, limit
}

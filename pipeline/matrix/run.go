package matrix

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"transportbench/transports/wire"
)

// Values of Variant.GSO, Variant.BuffersOn and a backend that stands for none.
const (
	GSOOff      = "off"
	GSOOn       = "on"
	GSOLossless = "lossless" // on only where the profile has neither loss nor delay

	BuffersBoth   = "both"
	BuffersServer = "server"

	// BackendNone marks a link that no backend can make here.
	BackendNone = "none"
)

// Link is the network of this run: the profile's, with the minimum RTO of the column.
func (r Run) Link() LinkSpec {
	l := r.Profile.Link
	l.RTOMinNS = r.Variant.RTOMinNS
	return l
}

// GSO says whether UDP segmentation offload is on in this run.
func (r Run) GSO() bool {
	return r.Variant.GSO == GSOOn || r.Variant.GSO == GSOLossless && r.Profile.Link.Clean()
}

// Unsupported says in plain words why the run is not tried at all; empty: it is.
func (r Run) Unsupported() string {
	switch {
	case r.Variant.Image != "":
		return fmt.Sprintf("%s is an image, and this version makes its images from files: bind one with --driver %s=PATH", r.Variant.Name, r.Variant.Driver)
	case r.Variant.Unreliable && r.Profile.Link.Lossy():
		return fmt.Sprintf("%s repairs nothing, so it is not measured with injected loss", r.Variant.Name)
	case r.Variant.Unreliable && !r.Profile.Link.Orderly():
		return fmt.Sprintf("%s repairs nothing, so it is not measured with jitter, reordering or duplicates", r.Variant.Name)
	case r.Profile.Link.Backend == BackendNone:
		return fmt.Sprintf("no link backend here can do %s %% loss with %v one-way delay%s", r.Profile.lossPercent(), r.Profile.Link.DelayNS, r.Profile.Link.More.also())
	}
	return ""
}

// FileName is the run id as it appears in file names.
func (r Run) FileName() string { return strings.ReplaceAll(r.ID, "/", "_") }

// OpenFiles is the number of descriptors a process of this run may need.
func (r Run) OpenFiles(reserve int) int { return r.Profile.Connections + reserve }

// ClientConfig returns the client's flags. cpus is the number of CPUs the process may use; 0 leaves the number of workers to the driver.
func (r Run) ClientConfig(addr netip.AddrPort, cpus int) wire.Config {
	c := r.config(addr, cpus)
	c.Role = wire.RoleClient
	if r.Variant.BuffersOn == BuffersServer {
		c.RcvBuf, c.SndBuf = 0, 0
	}
	return c
}

// ServerConfig returns the server's flags. extra is added to the client's deadline (Deadlines.ServerExtra).
func (r Run) ServerConfig(addr netip.AddrPort, cpus int, extra time.Duration) wire.Config {
	c := r.config(addr, cpus)
	c.Role = wire.RoleServer
	c.Deadline += extra
	return c
}

func (r Run) config(addr netip.AddrPort, cpus int) wire.Config {
	p, v := r.Profile, r.Variant
	c := wire.Default()
	c.Suite, c.Addr, c.API, c.Policy = p.Suite, addr, v.API, v.Policy
	c.Connections, c.Messages, c.Payload, c.Window = p.Connections, p.Messages, p.PayloadBytes, p.Window
	c.Warmup, c.Samples, c.Listeners, c.Deadline = p.Warmup, p.Samples, p.Listeners, p.Deadline
	c.Workers = min(p.Workers, cpus)
	c.MTU, c.RcvBuf, c.SndBuf, c.GSO = v.MTU[p.Suite], v.RcvBuf, v.SndBuf, r.GSO()
	c.Seed = r.seed()
	return c
}

// seed is the first 63 bits of the block's seed, so that it is a positive number.
func (r Run) seed() int64 {
	b, err := hex.DecodeString(r.Seed)
	if err != nil || len(b) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b) >> 1)
}

package matrix

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"transportbench/transports/wire"
)

func runOf(t *testing.T, id string) Run {
	t.Helper()
	profile, _, _ := strings.Cut(id, "/")
	for _, r := range mustPlan(t, mustBuiltin(t, "published"), Selection{Extras: []string{"all"}, Only: []string{"profile=" + profile}}).Runs {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no run %s", id)
	return Run{}
}

func TestConfigs(t *testing.T) {
	addr := netip.MustParseAddrPort("127.0.0.1:19342")
	cases := []struct {
		id                   string
		cpus                 int
		workers, mtu         int
		clientBuf, serverBuf int
		gso                  bool
	}{
		{"single-800B-1c-l0-d0/raknet-send/r1", 2, 2, 1428, 0, 2 << 20, false},
		{"concurrent-800B-64c-l0-d0/raknet-batch/r1", 8, 4, 1400, 0, 2 << 20, false},
		{"sparse-800B-1c-l0-d0/kcp-c/r5", 1, 1, 1400, 2 << 20, 2 << 20, false},
		{"single-800B-1c-l0-d0/quic-go/r1", 4, 4, 1400, 0, 0, true},
		{"single-800B-1c-l1-d5/quic-go/r1", 4, 4, 1400, 0, 0, false},
		{"loaded-64B-64c-l1-d0/quic-go/r1", 4, 4, 1372, 0, 0, false},
		{"loaded-64B-64c-l0-d0/quic-go/r1", 0, 0, 1372, 0, 0, true},
		{"loaded-64B-64c-l0-d0/quic-go-nogso/r1", 4, 4, 1372, 0, 0, false},
		{"single-64B-1c-l0-d0/udp-gso/r1", 4, 4, 1400, 2 << 20, 2 << 20, true},
		{"single-64B-1c-l0-d0/tcp/r1", 4, 4, 0, 0, 0, false},
	}
	for _, c := range cases {
		r := runOf(t, c.id)
		client, server := r.ClientConfig(addr, c.cpus), r.ServerConfig(addr, c.cpus, 10*time.Second)
		if client.Workers != c.workers || client.MTU != c.mtu || client.RcvBuf != c.clientBuf || server.RcvBuf != c.serverBuf || client.GSO != c.gso {
			t.Errorf("%s: client %+v\nserver %+v", c.id, client, server)
		}
		if client.Role != wire.RoleClient || server.Role != wire.RoleServer || client.Addr != addr || server.Addr != addr {
			t.Errorf("%s: wrong role or address", c.id)
		}
		if client.Deadline != 450*time.Second || server.Deadline != 460*time.Second || client.Seed != server.Seed || client.Seed <= 0 {
			t.Errorf("%s: deadlines %v, %v, seeds %d, %d", c.id, client.Deadline, server.Deadline, client.Seed, server.Seed)
		}
	}
}

func TestSeedBelongsToTheBlock(t *testing.T) {
	a, b := runOf(t, "single-800B-1c-l1-d0/tcp/r1"), runOf(t, "single-800B-1c-l1-d0/kcp-c/r1")
	c := runOf(t, "single-800B-1c-l1-d0/tcp/r2")
	if a.Seed != b.Seed || a.Seed == c.Seed || len(a.Seed) != 64 {
		t.Errorf("seeds %s %s %s", a.Seed, b.Seed, c.Seed)
	}
}

func TestRunFacts(t *testing.T) {
	if l := runOf(t, "single-800B-1c-l1-d0/tcp-rto30/r1").Link(); l.RTOMinNS != 30*time.Millisecond || l.LossPPM != 10000 || l.Limit != 100000 {
		t.Errorf("link %+v", l)
	}
	if runOf(t, "single-800B-1c-l1-d0/udp/r1").Unsupported() == "" || runOf(t, "single-800B-1c-l0-d0/udp/r1").Unsupported() != "" {
		t.Error("udp is measured exactly where nothing is lost")
	}
	full := runOf(t, "single-64B-1c-l0-d0/raknet-batch-full/r1")
	if full.Unsupported() != "" || full.Variant.API != wire.APIBatch || full.Variant.Policy != wire.PolicyFull {
		t.Errorf("raknet-batch-full is api %s, policy %s; %s", full.Variant.API, full.Variant.Policy, full.Unsupported())
	}
	r := runOf(t, "concurrent-800B-2048c-l0-d0/tcp/r2")
	if r.FileName() != "concurrent-800B-2048c-l0-d0_tcp_r2" || r.OpenFiles(64) != 2112 {
		t.Errorf("file %s, open files %d", r.FileName(), r.OpenFiles(64))
	}
}

func TestProbeTakesAboutASecondEach(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "published"), Selection{})
	if len(p.Probe) != 2 || p.Probe[0].ID != "probe/udp" || p.Probe[1].ID != "probe/tcp" {
		t.Fatalf("probe %+v", p.Probe)
	}
	for _, r := range p.Probe {
		mib := float64(r.Profile.Messages*r.Profile.PayloadBytes) / (1 << 20)
		if mib < 140 || mib > 160 || r.Profile.Link.LossPPM != 0 {
			t.Errorf("%s sends %.0f MiB", r.ID, mib)
		}
	}
}

package sandbox

import (
	"slices"
	"testing"
	"testing/fstest"
)

const routeTable = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
	"eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"

func netFS(mtu, congestion string) fstest.MapFS {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"sys/class/net/eth0/mtu":                   text(mtu + "\n"),
		"sys/class/net/eth0/flags":                 text("0x1003\n"),
		"sys/class/net/bonding_masters":            text("\n"),
		"proc/sys/net/ipv4/tcp_congestion_control": text(congestion + "\n"),
		"proc/net/route":                           text(routeTable),
	}
}

func TestNetSnapshotDiff(t *testing.T) {
	before, err := NetSnapshot(netFS("1500", "bbr"))
	if err != nil || len(before.Interfaces) != 1 || len(before.Routes) != 1 || len(before.Sysctls) != 1 {
		t.Fatalf("snapshot %+v: %v", before, err)
	}
	if d := before.Diff(before); len(d) != 0 {
		t.Errorf("same state: %q", d)
	}
	after, err := NetSnapshot(netFS("1400", "cubic"))
	if err != nil {
		t.Fatal(err)
	}
	after.Interfaces["veth0"] = map[string]string{"mtu": "1500"}
	after.Routes = append(after.Routes, "veth0 x")
	want := []string{
		`interface eth0 mtu: "1500" became "1400"`, `interface veth0 mtu: "" became "1500"`,
		`net.ipv4.tcp_congestion_control: "bbr" became "cubic"`, `route "veth0 x" is new`,
	}
	if d := before.Diff(after); !slices.Equal(d, want) {
		t.Errorf("differences %q, want %q", d, want)
	}
	if d := after.Diff(before); len(d) != len(want) || d[3] != `route "veth0 x" is gone` {
		t.Errorf("reversed: %q", d)
	}
}

func TestRoutesWithoutCounts(t *testing.T) {
	a := parseRoutes([]byte("head\neth0 0 1 3 0 0 100 255\n"))
	b := parseRoutes([]byte("head\neth0 0 1 3 9 77 100 255\nshort line\n"))
	if !slices.Equal(a, b) || len(a) != 1 {
		t.Errorf("use counts are in the routes: %q and %q", a, b)
	}
}

func TestNetSnapshotOfNothing(t *testing.T) {
	if _, err := NetSnapshot(fstest.MapFS{}); err == nil {
		t.Error("no /sys: want an error, an empty snapshot would prove nothing")
	}
}

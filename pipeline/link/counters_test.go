package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParseSNMP(t *testing.T) {
	const text = "Udp: InDatagrams NoPorts RcvbufErrors\nUdp: 10 2 3\nTcp: MaxConn RetransSegs\nTcp: -1 7\nUdpLite: InDatagrams\nUdpLite: 99\n"
	cases := []struct {
		prefix string
		fields []string
		want   map[string]int64
	}{
		{"Udp", nil, map[string]int64{"InDatagrams": 10, "NoPorts": 2, "RcvbufErrors": 3}},
		{"Tcp", nil, map[string]int64{"MaxConn": -1, "RetransSegs": 7}},
		{"Tcp", []string{"RetransSegs", "Absent"}, map[string]int64{"RetransSegs": 7}},
		{"Icmp", nil, map[string]int64{}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, parseSNMP([]byte(text), c.prefix, c.fields)); diff != "" {
			t.Errorf("%s %v: %s", c.prefix, c.fields, diff)
		}
	}
}

// TestParseKernelFiles holds the parsers against files of a real kernel: every field that explains a run must be there.
func TestParseKernelFiles(t *testing.T) {
	for _, c := range []struct {
		got    map[string]int64
		fields []string
	}{
		{parseSNMP(testdata(t, "snmp"), "Udp", nil), []string{"InDatagrams", "OutDatagrams", "RcvbufErrors", "SndbufErrors", "MemErrors"}},
		{parseSNMP(testdata(t, "snmp"), "Tcp", tcpFields), tcpFields},
		{parseSNMP(testdata(t, "netstat"), "TcpExt", tcpExtFields), tcpExtFields},
		{parseSockstat(testdata(t, "sockstat")), []string{"TCP_mem", "UDP_mem", "TCP_inuse", "UDP_inuse", "sockets_used"}},
	} {
		for _, f := range c.fields {
			if _, ok := c.got[f]; !ok {
				t.Errorf("field %s is missing in %v", f, c.got)
			}
		}
	}
}

func TestCountersSub(t *testing.T) {
	earlier := Counters{
		PacketsLo: 10, BytesLo: 1000, OverMTU: 1, OverMTULo: 1, Directions: []Direction{{Name: "to-server", Seen: 5, Dropped: 1, Overflow: 2}},
		UDP: map[string]int64{"InDatagrams": 4}, TCP: map[string]int64{}, TCPExt: map[string]int64{"TCPTimeouts": 1},
	}
	now := Counters{
		PacketsLo: 30, BytesLo: 4000, OverMTU: 3, OverMTULo: 2,
		Directions: []Direction{{Name: "to-server", Seen: 15, Dropped: 2, Overflow: 2, LateMaxNS: 9}, {Name: "other", Seen: 3}},
		UDP:        map[string]int64{"InDatagrams": 9}, TCP: map[string]int64{}, TCPExt: map[string]int64{"TCPTimeouts": 4},
		SockMem: map[string]int64{"UDP_mem": 8},
	}
	want := Counters{
		PacketsLo: 20, BytesLo: 3000, OverMTU: 2, OverMTULo: 1,
		Directions: []Direction{{Name: "to-server", Seen: 10, Dropped: 1, LateMaxNS: 9}, {Name: "other", Seen: 3}},
		UDP:        map[string]int64{"InDatagrams": 5}, TCP: map[string]int64{}, TCPExt: map[string]int64{"TCPTimeouts": 3},
		SockMem: map[string]int64{"UDP_mem": 8},
	}
	if diff := cmp.Diff(want, now.Sub(earlier)); diff != "" {
		t.Error(diff)
	}
	unknown := Counters{OverMTU: -1, OverMTULo: -1}
	if d := unknown.Sub(unknown); d.OverMTU != -1 || d.OverMTULo != -1 {
		t.Errorf("unknown became %d and %d", d.OverMTU, d.OverMTULo)
	}
}

func TestParseQueues(t *testing.T) {
	const text = "    0   8889     0 2    64     3     4     1234  1\n    1   8889     0 2    64     0     0        5  1\n"
	got, err := parseQueues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[uint16]int64{0: 7, 1: 0}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"1 2 3\n", strings.Replace(text, "1234", "x", 1)[:20] + "\n", "x 1 0 2 64 0 0 5 1\n"} {
		if _, err := parseQueues([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseCounters(f *testing.F) {
	for _, name := range []string{"snmp", "netstat", "sockstat"} {
		f.Add(testdata(f, name))
	}
	f.Add([]byte("0 8889 0 2 64 3 4 1234 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name := range parseSNMP(text, "TcpExt", tcpExtFields) {
			if !strings.HasPrefix(name, "TCP") && !strings.HasPrefix(name, "Listen") {
				t.Errorf("field %q was not asked for", name)
			}
		}
		parseSockstat(text)
		if _, err := parseQueues(text); err != nil && strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("error is not one line: %q", err)
		}
	})
}

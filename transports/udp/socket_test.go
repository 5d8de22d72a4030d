//go:build linux

package udp

import "testing"

func TestSourcePorts(t *testing.T) {
	for _, c := range []struct {
		server uint16
		index  int
		want   uint16
	}{
		{19342, 0, 20_000}, {19342, 8191, 28_191}, {20_003, 2, 20_002}, {20_003, 3, 20_004}, {20_003, 4, 20_005}, {40_000, 9, 20_009},
	} {
		if got := sourcePort(firstSourcePort, c.server, c.index); got != c.want {
			t.Errorf("%+v: port %d", c, got)
		}
	}
}

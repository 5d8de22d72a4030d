package link

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// read takes every counter once. /proc/thread-self is the namespace of the calling thread, also where the process lives in another.
func (a *Applied) read() (Counters, error) {
	var c Counters
	l, err := a.backend.ledger()
	if err != nil {
		return c, err
	}
	c.Directions, c.OverMTU, c.OverMTULo = l.directions, l.overSent, l.overLo
	if err := readLoopbackStats(&c); err != nil {
		return c, err
	}
	files := map[string][]byte{}
	for _, name := range []string{"snmp", "netstat", "sockstat"} {
		path := "/proc/thread-self/net/" + name
		if files[name], err = os.ReadFile(path); err != nil {
			return c, fmt.Errorf("network counters not read: %w", err)
		}
	}
	c.UDP = parseSNMP(files["snmp"], "Udp", nil)
	c.TCP = parseSNMP(files["snmp"], "Tcp", tcpFields)
	c.TCPExt = parseSNMP(files["netstat"], "TcpExt", tcpExtFields)
	c.SockMem = parseSockstat(files["sockstat"])
	return c, nil
}

func readLoopbackStats(c *Counters) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("route netlink not opened: %w", err)
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("lo counters not read: %w", err)
	}
	if s := lo.Attrs().Statistics; s != nil {
		c.PacketsLo, c.BytesLo = int64(s.TxPackets), int64(s.TxBytes)
	}
	return nil
}

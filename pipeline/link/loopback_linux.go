package link

import (
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// configureLoopback sets lo and its routes and writes what the kernel then says into s.
func configureLoopback(p plan, s *State) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("route netlink not opened: %w", err)
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("lo not found: %w", err)
	}
	if err := setLoopback(h, lo, p.mtu); err != nil {
		return err
	}
	if err := replaceRoutes(h, lo.Attrs().Index, p.rtoMin); err != nil {
		return err
	}
	return readLoopback(h, s)
}

// setLoopback takes every offload away: with gso_max_segs 1 TCP sends one segment per packet, so one loss is one segment.
func setLoopback(h *netlink.Handle, lo netlink.Link, mtu int) error {
	steps := []struct {
		name string
		do   func() error
	}{
		{"mtu", func() error { return h.LinkSetMTU(lo, mtu) }},
		{"gso_max_segs", func() error { return h.LinkSetGSOMaxSegs(lo, 1) }},
		{"gso_max_size", func() error { return h.LinkSetGSOMaxSize(lo, mtu) }},
		{"gro_max_size", func() error { return h.LinkSetGROMaxSize(lo, mtu) }},
		{"up", func() error { return h.LinkSetUp(lo) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("lo %s not set: %w", step.name, err)
		}
	}
	return nil
}

// loopbackRoutes are the two routes that the kernel puts into the local table when lo comes up.
func loopbackRoutes() []*net.IPNet {
	home := net.IPv4(127, 0, 0, 1).To4()
	return []*net.IPNet{
		{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
		{IP: home, Mask: net.CIDRMask(32, 32)},
	}
}

// replaceRoutes adds metrics to the loopback routes. The metric works where net.ipv4.tcp_congestion_control refuses a name
// that is not in the allowed list. rto_min counts only as a locked metric (net/ipv4/tcp_output.c, tcp_rto_min).
func replaceRoutes(h *netlink.Handle, lo int, rtoMin time.Duration) error {
	for _, dst := range loopbackRoutes() {
		r := netlink.Route{
			LinkIndex: lo, Dst: dst, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: unix.RT_SCOPE_HOST,
			Protocol: unix.RTPROT_KERNEL, Src: net.IPv4(127, 0, 0, 1), Congctl: congestionControl,
			RtoMin: int(rtoMin / time.Millisecond), RtoMinLock: rtoMin > 0,
		}
		if err := h.RouteReplace(&r); err != nil {
			return fmt.Errorf("route %s not given %s: %w", dst, congestionControl, err)
		}
	}
	return nil
}

func readLoopback(h *netlink.Handle, s *State) error {
	lo, err := h.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("lo not read back: %w", err)
	}
	at := lo.Attrs()
	if at.Flags&net.FlagUp == 0 {
		return fmt.Errorf("lo is down in the kernel, want up")
	}
	s.MTU, s.GSOMaxSegs = at.MTU, int(at.GSOMaxSegs)
	s.GSOMaxSize, s.GROMaxSize = int(at.GSOMaxSize), int(at.GROMaxSize)
	return readRoutes(h, at.Index, s)
}

// readRoutes requires each loopback route exactly once and both with the same metrics.
func readRoutes(h *netlink.Handle, lo int, s *State) error {
	filter := &netlink.Route{LinkIndex: lo, Table: unix.RT_TABLE_LOCAL}
	routes, err := h.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_TABLE|netlink.RT_FILTER_OIF)
	if err != nil {
		return fmt.Errorf("local routes not read back: %w", err)
	}
	for i, dst := range loopbackRoutes() {
		r, err := onlyRoute(routes, dst)
		if err != nil {
			return err
		}
		rto := time.Duration(r.RtoMin) * time.Millisecond
		if i > 0 && (r.Congctl != s.CongestionControl || rto != s.RTOMinNS) {
			return fmt.Errorf("route %s has metrics %q %s, the other loopback route %q %s", dst, r.Congctl, rto, s.CongestionControl, s.RTOMinNS)
		}
		s.CongestionControl, s.RTOMinNS = r.Congctl, rto
	}
	return nil
}

func onlyRoute(routes []netlink.Route, dst *net.IPNet) (netlink.Route, error) {
	var found []netlink.Route
	for _, r := range routes {
		if r.Dst != nil && r.Dst.String() == dst.String() {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return netlink.Route{}, fmt.Errorf("route %s is %d times in the local table, want once", dst, len(found))
	}
	return found[0], nil
}

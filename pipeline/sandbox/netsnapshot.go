package sandbox

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// NetState is what a benchmark must leave alone: interfaces, routes and network settings of the host. Qdiscs and GSO limits
// are only told by netlink and are not in it; they belong to interfaces, and the private network has its own.
type NetState struct {
	Interfaces map[string]map[string]string `json:"interfaces"` // name, then attribute
	Routes     []string                     `json:"routes"`     // device destination gateway flags metric mask
	Sysctls    map[string]string            `json:"sysctls"`
}

// interfaceFiles are attributes in /sys/class/net/<name> that only an administrator's command changes.
var interfaceFiles = [...]string{"mtu", "flags", "tx_queue_len", "address", "ifindex", "gro_flush_timeout", "ifalias"}

// sysctlFiles are the settings that benchmarks of this kind are tempted to change.
var sysctlFiles = [...]string{
	"net/core/default_qdisc", "net/core/rmem_default", "net/core/rmem_max", "net/core/wmem_default", "net/core/wmem_max",
	"net/core/netdev_max_backlog", "net/core/somaxconn", "net/ipv4/ip_forward", "net/ipv4/ip_local_port_range",
	"net/ipv4/tcp_allowed_congestion_control", "net/ipv4/tcp_congestion_control", "net/ipv4/tcp_ecn",
	"net/ipv4/tcp_mtu_probing", "net/ipv4/tcp_rmem", "net/ipv4/tcp_sack", "net/ipv4/tcp_timestamps", "net/ipv4/tcp_wmem",
	"net/ipv4/udp_mem", "net/ipv6/conf/all/disable_ipv6",
}

// NetSnapshot reads the state from the file system root (os.DirFS("/")) of the namespace it is called in.
func NetSnapshot(root fs.FS) (NetState, error) {
	s := NetState{Interfaces: map[string]map[string]string{}, Sysctls: map[string]string{}}
	entries, err := fs.ReadDir(root, "sys/class/net")
	if err != nil {
		return s, fmt.Errorf("network snapshot: %w", err)
	}
	for _, e := range entries {
		attrs := map[string]string{}
		for _, name := range interfaceFiles {
			if b, err := fs.ReadFile(root, path.Join("sys/class/net", e.Name(), name)); err == nil {
				attrs[name] = strings.TrimSpace(string(b))
			}
		}
		if len(attrs) > 0 { // bonding_masters and the like are files, not interfaces
			s.Interfaces[e.Name()] = attrs
		}
	}
	for _, name := range sysctlFiles {
		if b, err := fs.ReadFile(root, "proc/sys/"+name); err == nil {
			s.Sysctls[strings.ReplaceAll(name, "/", ".")] = strings.Join(strings.Fields(string(b)), " ")
		}
	}
	b, err := fs.ReadFile(root, "proc/net/route")
	if err != nil {
		return s, fmt.Errorf("network snapshot: %w", err)
	}
	s.Routes = parseRoutes(b)
	return s, nil
}

// parseRoutes keeps the columns of /proc/net/route that are configuration; reference and use counts are not.
func parseRoutes(table []byte) []string {
	routes := []string{}
	sc := bufio.NewScanner(bytes.NewReader(table))
	sc.Scan() // headings
	for sc.Scan() {
		if f := strings.Fields(sc.Text()); len(f) >= 8 {
			routes = append(routes, strings.Join([]string{f[0], f[1], f[2], f[3], f[6], f[7]}, " "))
		}
	}
	slices.Sort(routes)
	return routes
}

// Diff lists what differs in later, one line each; none: nothing changed.
func (s NetState) Diff(later NetState) []string {
	var out []string
	for _, name := range union(s.Interfaces, later.Interfaces) {
		a, b := s.Interfaces[name], later.Interfaces[name]
		out = append(out, diffMaps("interface "+name+" ", a, b)...)
	}
	out = append(out, diffMaps("", s.Sysctls, later.Sysctls)...)
	out = append(out, diffLists("route", s.Routes, later.Routes)...)
	return out
}

func diffMaps(what string, a, b map[string]string) []string {
	var out []string
	for _, k := range union(a, b) {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s%s: %q became %q", what, k, a[k], b[k]))
		}
	}
	return out
}

func diffLists(what string, a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, fmt.Sprintf("%s %q is gone", what, x))
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, fmt.Sprintf("%s %q is new", what, x))
		}
	}
	return out
}

func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

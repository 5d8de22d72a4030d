//go:build linux && baseline

package udp

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// TestBaseline compares the drivers with independent programs on one path and prints docs/baselines.md's table:
//
//	go test -tags baseline -run TestBaseline -timeout 20m -v ./transports/udp
//
// It needs sockperf and qperf (Debian packages of these names), gcc, ip and permission for user namespaces. It reports and
// asserts nothing about speed.
var (
	pairs  = flag.Int("baseline.pairs", 15, "how often each side is measured, in alternating order")
	inside = flag.String("baseline.inside", "", "folder with the built programs; set when the test runs itself in a namespace")
)

func TestBaseline(t *testing.T) {
	if *inside == "" {
		enter(t)
		return
	}
	sh(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
	sh(t, "ip", "link", "set", "dev", "lo", "gso_max_size", "1500", "gso_max_segs", "1", "gro_max_size", "1500")
	b := newBench(t, *inside)
	for _, c := range comparisons() {
		t.Run(c.name, func(t *testing.T) { b.compare(t, c) })
	}
}

// enter builds everything and runs this test again in private user and network namespaces.
func enter(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"udp", "tcp"} {
		sh(t, "go", "build", "-o", filepath.Join(dir, name), "../"+name+"/driver")
	}
	sh(t, "gcc", "-O2", "-static", "-o", filepath.Join(dir, "launch"), "../../containers/launch/launch.c")
	for _, name := range []string{"pair", "tcppair"} {
		sh(t, "gcc", "-O2", "-std=c11", "-pthread", "-o", filepath.Join(dir, name), "testdata/"+name+".c")
	}
	cmd := exec.Command(os.Args[0], "-test.run="+flag.Lookup("test.run").Value.String(), "-baseline.inside="+dir, "-baseline.pairs="+strconv.Itoa(*pairs))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}

func sh(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// comparison is one row: both sides measure the same quantity of the same traffic. higher says that more is better.
type comparison struct {
	name, unit string
	higher     bool
	driver     func(*testing.T, *bench) float64
	other      func(*testing.T, *bench) float64
}

func comparisons() []comparison {
	return []comparison{
		{"UDP ping-pong 800 B p50: udp / sockperf", "us", false, sparseP50("udp"), sockperf("")},
		{"UDP ping-pong 800 B mean: udp / qperf udp_lat", "us", false, sparseMean("udp"), qperf("udp_lat")},
		{"UDP echo rate 800 B window 64: udp / C pair", "msg/s", true, echoRate("udp", 800), pairRate("pair", "client", 800)},
		{"UDP echo rate 64 B window 64: udp / C pair", "msg/s", true, echoRate("udp", 64), pairRate("pair", "client", 64)},
		{"TCP ping-pong 800 B p50: tcp / sockperf --tcp", "us", false, sparseP50("tcp"), sockperf("--tcp")},
		{"TCP ping-pong 800 B mean: tcp / qperf tcp_lat", "us", false, sparseMean("tcp"), qperf("tcp_lat")},
		{"TCP ping-pong 800 B mean: tcp / C pair, the same records", "us", false, sparseMean("tcp"), pairMean("tcppair")},
		{"TCP echo rate 800 B window 64: tcp / C pair, two threads", "msg/s", true, echoRate("tcp", 800), pairRate("tcppair", "client2", 800)},
		{"TCP echo rate 800 B window 64: tcp / C pair, one thread", "msg/s", true, echoRate("tcp", 800), pairRate("tcppair", "client", 800)},
		{"TCP echo rate 4,096 B window 64: tcp / C pair, two threads", "msg/s", true, echoRate("tcp", 4096), pairRate("tcppair", "client2", 4096)},
	}
}

// compare runs both sides in turn, the one that starts alternating, and prints medians and the ratios pair by pair.
func (b *bench) compare(t *testing.T, c comparison) {
	var driver, other, ratio []float64
	for i := range *pairs {
		first, second := c.driver, c.other
		if i%2 == 1 {
			first, second = second, first
		}
		x, y := first(t, b), second(t, b)
		if i%2 == 1 {
			x, y = y, x
		}
		driver, other = append(driver, x), append(other, y)
		if c.higher {
			ratio = append(ratio, x/y)
		} else {
			ratio = append(ratio, y/x)
		}
	}
	fmt.Printf("| %s | %s | %s | %s | %s |\n", c.name, c.unit, spread(driver, "%.1f"), spread(other, "%.1f"), spread(ratio, "%.2f"))
}

// spread is the median, of an odd count, with the range.
func spread(v []float64, format string) string {
	s := slices.Sorted(slices.Values(v))
	return fmt.Sprintf(format+" ("+format+"-"+format+")", s[len(s)/2], s[0], s[len(s)-1])
}

// bench knows where the programs are and where they run: server and client on a CPU each, if there are two.
type bench struct {
	dir            string
	server, client string
	nice           string
	port           int
}

func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []string
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, strconv.Itoa(i))
		}
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{dir: dir, server: cpus[0], client: cpus[len(cpus)-1], nice: strconv.Itoa(20 - nice), port: 19400}
}

func (b *bench) command(cpus, name string, args ...string) *exec.Cmd {
	if !strings.Contains(name, "/") {
		name = filepath.Join(b.dir, name)
	}
	return exec.Command(filepath.Join(b.dir, "launch"), append([]string{"-cpus", cpus, "-nice", b.nice, "--", name}, args...)...)
}

// serve starts a server and waits for a line with mark on its output; the returned function ends it.
func (b *bench) serve(t *testing.T, mark, name string, args ...string) func() {
	t.Helper()
	cmd := b.command(b.server, name, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), mark) {
	}
	drained := make(chan struct{})
	go func() { // ends with the server's output
		_, _ = io.Copy(io.Discard, out)
		close(drained)
	}()
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		_ = cmd.Wait()
	}
}

func (b *bench) call(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := b.command(b.client, name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// drive runs a driver's server and client and returns the result and the sequential samples.
func (b *bench) drive(t *testing.T, name string, cfg wire.Config) (res wire.Result, meanNS float64) {
	t.Helper()
	b.port++
	cfg.Addr = loopbackPort(b.port)
	server := cfg
	server.Role = wire.RoleServer
	defer b.serve(t, `"ready"`, name, server.Args()...)()
	cfg.Role, cfg.SamplesFile = wire.RoleClient, filepath.Join(b.dir, "rtt"+strconv.Itoa(b.port))
	for line := range strings.Lines(b.call(t, name, cfg.Args()...)) {
		if strings.Contains(line, `"type":"result"`) {
			if err := json.Unmarshal([]byte(line), &res); err != nil {
				t.Fatal(err)
			}
		}
	}
	if res.ElapsedNS == 0 {
		t.Fatalf("%s: no result", name)
	}
	return res, meanOf(t, cfg.SamplesFile)
}

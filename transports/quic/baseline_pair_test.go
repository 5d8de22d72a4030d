//go:build linux && baseline

package quic

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var pairs = flag.Int("baseline.pairs", 15, "how often each side is measured, in alternating order")

// TestBaseline compares the driver with testdata/pair, a client and a server of their own over the same quic-go, for the row of
// docs/baselines.md: 800 B, 64 under way, two processes on loopback, the side that goes first alternating.
//
//	go test -tags baseline -run TestBaseline -timeout 10m -v ./transports/quic
//
// It reports and asserts nothing about speed.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	for name, pkg := range map[string]string{"quic": "./driver", "pair": "./testdata/pair"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", pkg, err, out)
		}
	}
	sides := []side{driverSide(dir), pairSide(dir)}
	var rates, cpus [2][]float64
	var rate, cpu []float64
	for i := range *pairs {
		for j := range sides {
			k := (i + j) % 2
			r, c := sides[k].measure(t, 19500+2*i+j)
			rates[k], cpus[k] = append(rates[k], r), append(cpus[k], c)
		}
		rate, cpu = append(rate, rates[0][i]/rates[1][i]), append(cpu, cpus[1][i]/cpus[0][i])
	}
	fmt.Printf("| QUIC echo rate 800 B window 64: quic-go driver / Go pair | msg/s | %s | %s | %s |\n", spread(rates[0], "%.0f"), spread(rates[1], "%.0f"), spread(rate, "%.2f"))
	fmt.Printf("| the same: CPU time of both processes | us/msg | %s | %s | %s |\n", spread(cpus[0], "%.1f"), spread(cpus[1], "%.1f"), spread(cpu, "%.2f"))
}

// baselineMessages are 400 rounds and a burst.
const baselineMessages = 20_000

// side is one program: how it is started and where its rate stands.
type side struct {
	server, client func(addr string) []string
	rate           func(output string) float64
}

func driverSide(dir string) side {
	args := func(role string) func(string) []string {
		return func(addr string) []string {
			return []string{filepath.Join(dir, "quic"), "-role", role, "-addr", addr, "-suite", "single", "-warmup", "100", "-samples", "300",
				"-messages", strconv.Itoa(baselineMessages), "-gso", "on"}
		}
	}
	elapsed := regexp.MustCompile(`"elapsed_ns":(\d+)`)
	return side{args("server"), args("client"), func(out string) float64 {
		return baselineMessages / number(elapsed, out) * 1e9
	}}
}

func pairSide(dir string) side {
	program, line := filepath.Join(dir, "pair"), regexp.MustCompile(`(?m)^(\d+)$`)
	return side{
		func(addr string) []string { return []string{program, "server", addr} },
		func(addr string) []string { return []string{program, "client", addr, strconv.Itoa(baselineMessages)} },
		func(out string) float64 { return number(line, out) },
	}
}

// number is 0 where there is none.
func number(pattern *regexp.Regexp, text string) float64 {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(m[1], 64) // digits
	return v
}

// measure returns messages a second and us of CPU time a message, both processes together.
func (s side) measure(t *testing.T, port int) (rate, cpuUS float64) {
	t.Helper()
	addr := "127.0.0.1:" + strconv.Itoa(port)
	server, client := command(s.server(addr)), command(s.client(addr))
	ready, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(ready)
	for lines.Scan() && !strings.Contains(lines.Text(), "ready") {
	}
	var out bytes.Buffer
	client.Stdout = &out
	failed := client.Run()
	_ = server.Process.Signal(syscall.SIGTERM)
	for lines.Scan() {
	}
	_ = server.Wait() // the pair's server dies of the signal
	if rate = s.rate(out.String()); failed != nil || rate == 0 {
		t.Fatalf("%s: %v\n%s", client, failed, out.String())
	}
	used := time.Duration(0)
	for _, c := range []*exec.Cmd{server, client} {
		used += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return rate, float64(used.Microseconds()) / (baselineMessages + 400)
}

func command(args []string) *exec.Cmd { return exec.Command(args[0], args[1:]...) }

// spread is the median, of an odd count, with the range.
func spread(v []float64, format string) string {
	s := slices.Sorted(slices.Values(v))
	return fmt.Sprintf(format+" ("+format+"-"+format+")", s[len(s)/2], s[0], s[len(s)-1])
}

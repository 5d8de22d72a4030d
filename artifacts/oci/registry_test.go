package oci

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// startRegistry runs Debian's docker-registry on a free loopback port over a temporary folder and returns its host:port.
func startRegistry(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("unsupported: no docker-registry here; Debian's package docker-registry has it")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	must(t, os.WriteFile(config, []byte("version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: "+dir+"\nhttp:\n  addr: 127.0.0.1:0\n"), 0o644))
	cmd := exec.Command(bin, "serve", config)
	out, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // ours, and gone when the test is
		_ = cmd.Wait()
	})
	listening := regexp.MustCompile(`listening on ([0-9.:]+)`)
	log := bufio.NewScanner(out)
	for log.Scan() {
		if m := listening.FindStringSubmatch(log.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
			return m[1]
		}
	}
	t.Fatalf("docker-registry ended before it listened: %v", log.Err())
	return ""
}

func TestRegistryRoundTrip(t *testing.T) {
	host := startRegistry(t)
	dir := artifact(t, 3<<20)
	to := parse(t, "oci://"+host+"/some/results")
	p := push(t, dir, to, PushOptions{})
	got := bringsBack(t, parse(t, "oci://"+host+"/some/results:"+id), dir)
	if got.Ref.Digest != p.Ref.Digest || got.Statement == nil {
		t.Errorf("%+v, pushed as %s", got, p.Ref.Digest)
	}
	bringsBack(t, Ref{Registry: host, Repository: "some/results", Digest: p.Ref.Digest}, dir)
	lay := push(t, dir, Ref{Layout: t.TempDir()}, PushOptions{})
	if lay.Ref.Digest != p.Ref.Digest {
		t.Errorf("registry %s, layout %s: want one digest", p.Ref.Digest, lay.Ref.Digest)
	}
	if again := push(t, dir, to, PushOptions{}); again.Sent != 0 || again.Ref != p.Ref {
		t.Errorf("%+v, want nothing sent", again)
	}
	two := artifact(t, 64)
	_, err := impatient().Push(context.Background(), two, parse(t, to.String()+":"+id), PushOptions{})
	if !errors.Is(err, ErrTagTaken) {
		t.Errorf("%v, want the tag to be taken", err)
	}
	_, err = impatient().Pull(context.Background(), parse(t, to.String()+":nothing"), PullOptions{Into: t.TempDir()})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, want nothing there", err)
	}
}

func TestRegistryReferrersGather(t *testing.T) {
	checkGathers(t, parse(t, "oci://"+startRegistry(t)+"/r"))
}

// cutter passes connections on to a registry and cuts each that wants to send more than limit bytes, once two blobs have arrived: those
// under way beside it are given the time.
type cutter struct {
	addr    string
	limit   atomic.Int64
	once    bool // after the first cut everything passes
	cuts    atomic.Int64
	created atomic.Int64
	two     chan struct{} // closed when two blobs have arrived
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cutter{addr: l.Addr().String(), two: make(chan struct{})}
	c.limit.Store(64 << 10)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed below
			}
			group.Go(func() { c.pass(conn, to) })
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return c
}

func (c *cutter) pass(client net.Conn, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		_ = client.Close()
		return
	}
	defer server.Close()
	defer client.Close()         // first: what the registry says of the cut does not arrive
	go c.answers(client, server) // ends when server is closed
	buf, sent := make([]byte, 16<<10), int64(0)
	for {
		n, err := client.Read(buf)
		if sent += int64(n); sent > c.limit.Load() {
			<-c.two
			c.cuts.Add(1)
			if c.once {
				c.limit.Store(1 << 40)
			}
			return
		}
		if _, errWrite := server.Write(buf[:n]); err != nil || errWrite != nil {
			return
		}
	}
}

// answers passes on what the registry says and counts what it has taken.
func (c *cutter) answers(client, server net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := server.Read(buf)
		if bytes.HasPrefix(buf[:n], []byte("HTTP/1.1 201 ")) && c.created.Add(1) == 2 {
			close(c.two)
		}
		if _, errWrite := client.Write(buf[:n]); err != nil || errWrite != nil {
			_ = client.Close()
			return
		}
	}
}

// A push through a line that is cut fails with one line, leaves no tag, and goes on where it stopped.
func TestInterruptedPush(t *testing.T) {
	host := startRegistry(t)
	dir := artifact(t, 4<<20)
	c := newCutter(t, host)
	to := parse(t, "oci://"+c.addr+"/r:x")
	direct := parse(t, "oci://"+host+"/r:x")
	_, err := impatient().Push(context.Background(), dir, to, PushOptions{})
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "repeat the command") {
		t.Fatalf("%v, want one line about a broken connection", err)
	}
	if _, err := impatient().Pull(context.Background(), direct, PullOptions{Into: t.TempDir()}); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v: half a push must not be there", err)
	}
	c.limit.Store(1 << 40)
	p := push(t, dir, to, PushOptions{})
	if p.Present == 0 || p.Sent == 0 {
		t.Errorf("%d sent, %d were there: want the rest to be sent only", p.Sent, p.Present)
	}
	bringsBack(t, direct, dir)
}

// A line that is cut once is no reason to give up.
func TestPushSurvivesACut(t *testing.T) {
	host := startRegistry(t)
	dir := artifact(t, 1<<20)
	c := newCutter(t, host)
	c.once = true
	p := push(t, dir, parse(t, "oci://"+c.addr+"/r:x"), PushOptions{})
	if c.cuts.Load() == 0 {
		t.Fatal("nothing was cut")
	}
	bringsBack(t, parse(t, "oci://"+host+"/r@"+p.Ref.Digest), dir)
}

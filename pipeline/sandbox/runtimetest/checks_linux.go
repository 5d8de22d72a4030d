package runtimetest

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"transportbench/pipeline/host"
	"transportbench/pipeline/sandbox"
)

// place checks what every driver finds: a loopback alone, cubic, limits, and no right to change any of it.
func (s Suite) place(t *testing.T, env sandbox.Env) {
	p, err := s.Runtime.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := finish(t, s.start(t, env, sandbox.ProcSpec{}, "facts"))
	var f Facts
	if err := json.Unmarshal(r.lines[0].raw, &f); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		ok   bool
	}{
		{"lo alone is up", slices.Equal(f.Up, []string{"lo"})},
		{"nothing outside has a route", f.Outside != ""},
		{"connected TCP sockets use cubic", f.Congestion == "cubic"},
		{"open files are at least min(hard, 16384)", r.exit.NoFile >= min(p.NoFileHard, 16384)},
		{"nice is 10", f.Nice == 10},
		{"unpinned is every allowed CPU", slices.Equal(f.Affinity, p.CPUs)},
		{"no capabilities", strings.Trim(f.CapEff, "0") == "" && f.CapEff != ""},
		{"environment is empty", len(f.Env) == 0},
		{"lo cannot be changed", f.LinkChange != ""},
	} {
		if !c.ok {
			t.Errorf("%s: it is not so: %s", c.what, r.lines[0].raw)
		}
	}
}

func (s Suite) threads(t *testing.T, env sandbox.Env) {
	p, err := s.Runtime.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := p.CPUs[:1]
	proc := s.start(t, env, sandbox.ProcSpec{CPUs: want}, "hang")
	reader, ok := proc.(sandbox.ThreadReader)
	if !ok {
		t.Skip("unsupported: this runtime does not show the threads of a driver")
	}
	awaitReady(t, proc)
	threads, err := reader.Threads(t.Context())
	var missing *sandbox.UnsupportedError
	if errors.As(err, &missing) {
		t.Skip("unsupported: ", missing)
	}
	if err != nil || len(threads) < 2 { // a Go program has several
		t.Fatalf("threads %v: %v", threads, err)
	}
	if err := sandbox.CheckThreads("probe", want, threads); err != nil {
		t.Error(err)
	}
}

// two drivers see one network: the server's loopback is the client's.
func (s Suite) two(t *testing.T, env sandbox.Env) {
	server := s.start(t, env, sandbox.ProcSpec{}, "hang")
	awaitReady(t, server)
	if r := finish(t, s.start(t, env, sandbox.ProcSpec{}, "say", "client")); r.lines[0].Text != "client" {
		t.Errorf("client said %v", r.lines)
	}
	if err := server.Kill(); err != nil {
		t.Error(err)
	}
	finish(t, server)
}

// orphan kills a driver whose grandchild left the process group and holds the pipes: the output must end all the same.
func (s Suite) orphan(t *testing.T, env sandbox.Env) {
	proc := s.start(t, env, sandbox.ProcSpec{}, "tree", "orphan")
	awaitReady(t, proc)
	if err := proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, proc); r.exit.Signal == 0 {
		t.Errorf("exit record %s: want a signal", r.exit.raw)
	}
}

// closeEnds leaves a driver running, with a grandchild outside its process group.
func (s Suite) closeEnds(t *testing.T, env sandbox.Env) {
	proc := s.start(t, env, sandbox.ProcSpec{}, "tree", "closed")
	awaitReady(t, proc)
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	if err := proc.Wait(); err == nil {
		t.Error("wait after close: want an error, for there is no exit record")
	}
	if _, err := proc.Stdout().Read(make([]byte, 1)); err == nil || err == io.ErrNoProgress {
		t.Errorf("output after close: %v", err)
	}
	if _, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "late", Path: s.Probe}); err == nil {
		t.Error("start after close: want an error")
	}
}

func (s Suite) counters(t *testing.T, env sandbox.Env) {
	before, err := env.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s.start(t, env, sandbox.ProcSpec{}, "facts")) // opens one TCP connection
	after, err := env.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.PacketsLo <= before.PacketsLo {
		t.Errorf("packets on lo: %d, then %d", before.PacketsLo, after.PacketsLo)
	}
	if st := env.Link(); st.MTU != 1500 || st.CongestionControl != "cubic" {
		t.Errorf("link read back: %+v", st)
	}
}

func (s Suite) host(t *testing.T, env sandbox.Env) {
	var first, second host.Report
	for _, r := range []*host.Report{&first, &second} {
		raw, err := env.Host(t.Context())
		if err == nil {
			err = json.Unmarshal(raw, r)
		}
		if err != nil {
			t.Fatalf("host %s: %v", raw, err)
		}
	}
	if first.Environment == nil || first.Environment.Label == "" || len(first.Namespace) == 0 {
		t.Errorf("first report lacks the environment: %+v", first)
	}
	d := second.Counters.Sub(first.Counters)
	if n, known := d.MonoNS.Get(); !known || n <= 0 || len(d.CPU) == 0 {
		t.Errorf("difference of two reports: %+v", d)
	}
}

// probe names every backend, with a reason and a fix where one does not work.
func (s Suite) probe(t *testing.T, _ sandbox.Env) {
	p, err := s.Runtime.Probe(t.Context())
	if err != nil || p.Namespaces != "ok" || p.NoFileHard == 0 || len(p.CPUs) == 0 || len(p.Links) == 0 {
		t.Fatalf("probe %+v: %v", p, err)
	}
	for _, c := range p.Links {
		if !c.OK && c.Reason == "" {
			t.Errorf("backend %s does not work and nobody says why", c.Backend)
		}
	}
}

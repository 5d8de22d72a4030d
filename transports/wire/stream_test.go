package wire

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

const (
	helloLine     = `{"type":"hello","contract":1,"pid":7,"settings":{"workers":1,"threads":1,"affinity":[0],"nice":10,"nofile":64,"rcvbuf_requested":0,"rcvbuf_granted":0,"sndbuf_requested":0,"sndbuf_granted":0,"window":64,"gso":false,"api":"send","policy":"off"}}` + "\n"
	readyLine     = `{"type":"ready","addr":"127.0.0.1:1"}` + "\n"
	doneLine      = `{"type":"done","connections":1,"messages":3,"per_listener":[3]}` + "\n"
	connectedLine = `{"type":"connected","n":2,"setup_ns":5}` + "\n"
	startLine     = `{"type":"start","mono_ns":9}` + "\n"
	chunkLine     = `{"type":"connections","first":0,"per_connection":[{"burst_ns":1,"rtt_sum_ns":2},{"burst_ns":3,"rtt_sum_ns":4}]}` + "\n"
	resultLine    = `{"type":"result","elapsed_ns":3,"messages":2,"bytes":34,"verified":2,"lost":0}` + "\n"
	errorLine     = `{"type":"error","code":"failed","message":"x"}` + "\n"
	exitLine      = `{"type":"exit","argv":["d"],"status":0,"signal":0,"max_rss_kib":1,"user_us":1,"system_us":1,"voluntary_switches":1,"involuntary_switches":1,"nofile_soft":1,"nofile_hard":1,"nice":10,"affinity":[0]}` + "\n"
)

func drain(role, out string) (names []string, errs []error) {
	s := NewStream(strings.NewReader(out), role)
	for range 1000 {
		r, err := s.Next()
		if err == nil {
			names = append(names, r.name())
			continue
		}
		errs = append(errs, err)
		var line *LineError
		if !errors.As(err, &line) {
			return names, errs
		}
	}
	return names, append(errs, errors.New("no end"))
}

func TestStreamAcceptsCompleteRuns(t *testing.T) {
	for _, tc := range []struct{ role, out, want string }{
		{RoleServer, helloLine + readyLine + doneLine, "hello ready done"},
		{RoleServer, helloLine + readyLine + doneLine + "\n" + exitLine, "hello ready done exit"},
		{RoleClient, helloLine + connectedLine + startLine + resultLine + "\n" + exitLine, "hello connected start result exit"},
		{RoleClient, helloLine + connectedLine + startLine + chunkLine + resultLine, "hello connected start result"},
		{RoleClient, helloLine + errorLine + "\n" + exitLine, "hello error exit"},
		{RoleClient, errorLine, "error"},
		{RoleClient, helloLine + connectedLine + startLine + resultLine + errorLine, "hello connected start result error"},
	} {
		names, errs := drain(tc.role, tc.out)
		if got := strings.Join(names, " "); got != tc.want || len(errs) != 1 || errs[0] != io.EOF {
			t.Errorf("%s %q: got %s, %v", tc.role, tc.want, got, errs)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	long := `{"type":"error","code":"x","message":"` + strings.Repeat("y", MaxLine) + `"}` + "\n"
	for name, tc := range map[string]struct{ role, out, want string }{
		"out of order":       {RoleClient, helloLine + startLine, "line 2: start record out of order: want connected"},
		"foreign role":       {RoleServer, helloLine + connectedLine, "line 2: connected record does not belong to a server"},
		"twice":              {RoleServer, helloLine + readyLine + readyLine, "line 3: ready record out of order: want done"},
		"driver exit":        {RoleServer, helloLine + readyLine + doneLine + exitLine, "line 4: exit record without launch's empty line"},
		"after exit":         {RoleServer, helloLine + readyLine + doneLine + "\n" + exitLine + "\n" + exitLine, "line 7: exit record after launch's exit"},
		"two errors":         {RoleClient, errorLine + errorLine, "line 2: second error record"},
		"after error":        {RoleClient, helloLine + errorLine + connectedLine, "line 3: connected record after the error record"},
		"unknown type":       {RoleClient, `{"type":"hallo"}` + "\n", `line 1: unknown record type "hallo"`},
		"no json":            {RoleClient, helloLine + "listening on :1\n", "line 2: not a JSON record"},
		"two objects":        {RoleClient, `{"type":"hello"} {}` + "\n", "line 1: not a JSON record"},
		"unknown field":      {RoleClient, `{"type":"start","mono_ns":1,"mono":2}` + "\n", `unknown field "mono"`},
		"wrong contract":     {RoleClient, `{"type":"hello","contract":2}` + "\n", "contract version 2: want 1"},
		"torn":               {RoleServer, helloLine + `{"type":"rea`, "line 2: not ended by a newline"},
		"long line":          {RoleClient, helloLine + long, "line 2: longer than 65536 bytes"},
		"missing":            {RoleServer, helloLine + readyLine, "done: record is missing"},
		"nothing":            {RoleClient, "", "hello, connected, start, result: record is missing"},
		"total":              {RoleClient, helloLine + strings.Repeat(long, 20), "more than 1048576 bytes"},
		"empty line":         {RoleServer, helloLine + "\n" + readyLine, "line 3: empty line before it"},
		"empty end":          {RoleServer, helloLine + readyLine + doneLine + "\n", "ended with an empty line: exit record is missing"},
		"sum of listeners":   {RoleServer, helloLine + readyLine + strings.Replace(doneLine, "[3]", "[2]", 1), "adds up to 2: messages is 3"},
		"chunk gap":          {RoleClient, helloLine + connectedLine + startLine + strings.Replace(chunkLine, `"first":0`, `"first":1`, 1), "starts at 1: want 0"},
		"chunk early":        {RoleClient, helloLine + connectedLine + chunkLine, "line 3: connections record out of order"},
		"chunk count":        {RoleClient, helloLine + connectedLine + startLine + chunkLine + strings.Replace(chunkLine, `"first":0`, `"first":2`, 1) + resultLine, "is about 4 connections: 2 were announced"},
		"negative":           {RoleClient, helloLine + connectedLine + startLine + strings.Replace(resultLine, `"lost":0`, `"lost":-1`, 1), "lost is -1"},
		"missing field":      {RoleClient, helloLine + connectedLine + startLine + `{"type":"result"}` + "\n", "elapsed_ns is 0"},
		"describe elsewhere": {RoleServer, `{"type":"describe"}` + "\n", "does not belong to a server"},
	} {
		_, errs := drain(tc.role, tc.out)
		if all := fmt.Sprint(errs); !strings.Contains(all, tc.want) {
			t.Errorf("%s: got %s, want %q in it", name, all, tc.want)
		}
	}
}

// A torn or overlong line must not hide launch's account of the process.
func TestStreamGoesOnAfterBadLine(t *testing.T) {
	for _, bad := range []string{"junk\n", `{"type":"rea`, "{}\n", strings.Repeat("x", 3*MaxLine) + "\n"} {
		names, errs := drain(RoleServer, helloLine+bad+"\n"+exitLine)
		if !strings.HasSuffix(strings.Join(names, " "), "exit") {
			t.Errorf("bad line %.10q: got %v %v", bad, names, errs)
		}
		if !errors.Is(errs[len(errs)-1], ErrMissing) {
			t.Errorf("bad line %.10q: got %v, want a missing record at the end", bad, errs)
		}
	}
}

func TestStreamReadsWhatWriterWrites(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	res := Result{ElapsedNS: 450_000_000_000, Messages: 1, Verified: 1}
	for range 2048 {
		res.PerConn = append(res.PerConn, ConnResult{BurstNS: 450_000_000_000, RTTSumNS: 28_800_000_000_000})
	}
	hello := Hello{Contract: ContractVersion, PID: 1, Settings: Settings{Affinity: []int{1, 3}}}
	for _, r := range []Record{hello, Connected{N: 2048, SetupNS: 1}, Start{MonoNS: 1}, res} {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	s := NewStream(strings.NewReader(out.String()), RoleClient)
	var last Record
	for {
		r, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = r
	}
	res.Type = TypeResult
	if !reflect.DeepEqual(last, Record(res)) {
		t.Errorf("result did not survive: %d connections", len(last.(Result).PerConn))
	}
}

func TestWriterEndsWithError(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	if err := w.Write(Error{Code: CodeFailed, Message: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Start{MonoNS: 1}); err == nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a record after the error record: %v, output %q", err, out.String())
	}
}

func FuzzStream(f *testing.F) {
	f.Add(helloLine+connectedLine+startLine+chunkLine+resultLine+"\n"+exitLine, false)
	f.Add(helloLine+readyLine+doneLine, true)
	f.Add("\n\n{", true)
	f.Fuzz(func(t *testing.T, out string, server bool) {
		role := RoleClient
		if server {
			role = RoleServer
		}
		s := NewStream(strings.NewReader(out), role)
		for range len(out) + 3 {
			if _, err := s.Next(); err != nil && !errors.As(err, new(*LineError)) {
				return
			}
		}
		t.Fatal("the stream does not end")
	})
}

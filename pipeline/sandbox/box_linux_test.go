package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// procStat has field 22 in its place, after a name with brackets and blanks.
func procStat(state string, start int) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "7 (a) b) %s %s %d 0", state, strings.Repeat("1 ", 18)[:35], start)}
}

func TestOwnersAreJudged(t *testing.T) {
	me := owner{machine: "m", boot: "b", pids: "pid:[1]", pid: "1", start: "1"}
	root := fstest.MapFS{
		"proc/7/stat": procStat("S", 100), "proc/8/stat": procStat("Z", 100),
	}
	for _, c := range []struct {
		what string
		o    owner
		want liveness
	}{
		{"lives", owner{"m", "b", "pid:[1]", "7", "100"}, alive},
		{"its pid was given out again", owner{"m", "b", "pid:[1]", "7", "99"}, dead},
		{"is a zombie", owner{"m", "b", "pid:[1]", "8", "100"}, dead},
		{"is gone", owner{"m", "b", "pid:[1]", "9", "100"}, dead},
		{"was before a reboot", owner{"m", "a", "pid:[1]", "7", "100"}, dead},
		{"is on another machine", owner{"n", "c", "pid:[1]", "7", "100"}, foreign},
		{"is in a container of this machine", owner{"m", "b", "pid:[2]", "7", "100"}, foreign},
		{"is in a container without a machine id", owner{"", "c", "pid:[2]", "7", "100"}, foreign},
		{"has a pid that is none", owner{"m", "b", "pid:[1]", "self", "100"}, dead},
	} {
		if got := me.judge(root, c.o); got != c.want {
			t.Errorf("owner that %s: %d, want %d", c.what, got, c.want)
		}
		if got := ownerOf(c.o.labels("s", "r", "x")); got != c.o {
			t.Errorf("labels of %+v give %+v", c.o, got)
		}
	}
	nobody := owner{boot: "b", pids: "pid:[1]"}
	if got := nobody.judge(root, owner{boot: "c", pids: "pid:[1]"}); got != foreign {
		t.Errorf("two machines without an id: %d, want foreign", got)
	}
}

func TestSelfIsAlive(t *testing.T) {
	root := os.DirFS("/")
	me, err := self(root)
	if err != nil {
		t.Fatal(err)
	}
	if got := me.judge(root, me); got != alive {
		t.Errorf("this process: %d, want alive", got)
	}
}

func TestEngineErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		said        string
		unsupported bool
		want        string
	}{
		{"write /var/lib/docker/tmp/x: no space left on device", false, "its disk is full"},
		{"Requested CPUs are not available - requested 9, available: 0-1", true, "placement: "},
		{"OCI runtime create failed: error setting rlimit type 7", true, "open files limit"},
		{"error during connect: read: connection reset by peer", false, "went away"},
		{"some\nnew thing", false, "some new thing"},
	} {
		err := engineError("doing it", errors.New(c.said))
		if errors.As(err, new(*UnsupportedError)) != c.unsupported || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", c.said, err)
		}
	}
	if err := engineError("doing it", context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
	if engineError("doing it", nil) != nil {
		t.Error("no error became one")
	}
}

func TestLineHead(t *testing.T) {
	var l lineHead
	for _, part := range []string{`{"type":"result"}` + "\n{\"ty", `pe":"exit","argv":[]}`, "\n"} {
		if l.startsWith(`{"type":"exit"`) {
			t.Errorf("before %q", part)
		}
		if n, err := io.WriteString(&l, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if !l.startsWith(`{"type":"exit"`) {
		t.Errorf("last line begins with %q", l.last)
	}
}

func TestStdioEndsAndRefuses(t *testing.T) {
	var out bytes.Buffer
	s := newStdio(strings.NewReader("{\"id\":1}\nhalf"), &out, func() error { return nil })
	if msg, _, err := s.read(); string(msg) != `{"id":1}` || err != nil {
		t.Errorf("read %q, %v", msg, err)
	}
	if _, _, err := s.read(); !errors.Is(err, io.EOF) {
		t.Errorf("half a line: %v, want EOF", err)
	}
	s = newStdio(strings.NewReader(strings.Repeat("x", maxMessage+2)), &out, nil)
	if _, _, err := s.read(); !errors.Is(err, errLongMessage) {
		t.Errorf("a long line: %v", err)
	}
	if err := s.write(make([]byte, maxMessage+1), nil); !errors.Is(err, errLongMessage) {
		t.Errorf("a long message: %v", err)
	}
	if err := s.write([]byte("{}"), []*os.File{nil}); err == nil {
		t.Error("a descriptor was taken")
	}
	if err := s.write([]byte("{}"), nil); err != nil || out.String() != "{}\n" {
		t.Errorf("wrote %q, %v", &out, err)
	}
}

// FuzzLoaded: an engine's answer is not ours to trust.
func FuzzLoaded(f *testing.F) {
	f.Add(`{"stream":"Loaded image: a:b\n"}`)
	f.Add(`{"stream":"x"}{"error":"no space left on device","errorDetail":{}}`)
	f.Add(`{"stream":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		last, err := loaded(io.NopCloser(strings.NewReader(body)))
		if err == nil && last == "" && strings.HasPrefix(body, `{"stream":"x"}`) {
			t.Error("the engine's word is lost")
		}
	})
}

func TestLoadedReportsTheEnginesWord(t *testing.T) {
	last, err := loaded(io.NopCloser(strings.NewReader(`{"stream":"Loaded image: a"}`)))
	if err != nil || last != "Loaded image: a" {
		t.Errorf("%q, %v", last, err)
	}
	_, err = loaded(io.NopCloser(strings.NewReader(`{"stream":"x"}{"error":"no space left on device"}`)))
	if err == nil || err.Error() != "no space left on device" {
		t.Errorf("error %v", err)
	}
}

package artifacts

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transportbench/transports/wire"
)

func TestSideSurvivesTheJournal(t *testing.T) {
	in := Side{Digest: "d", Result: &wire.Result{Type: wire.TypeResult, PerConn: []wire.ConnResult{{BurstNS: 1, RTTSumNS: 20}, {BurstNS: 0, RTTSumNS: 1 << 40}}}}
	b, err := json.Marshal(in)
	must(t, err)
	if !bytes.Contains(b, []byte(`"per_connection_ns":[1,20,0,1099511627776]`)) || bytes.Contains(b, []byte("burst_ns")) {
		t.Fatalf("stored as %s", b)
	}
	var out Side
	must(t, json.Unmarshal(b, &out))
	if d := cmp.Diff(in, out); d != "" {
		t.Fatal(d)
	}
	if len(in.Result.PerConn) != 2 {
		t.Fatal("marshalling changed its input")
	}
}

func TestPerConnectionRefuses(t *testing.T) {
	for _, s := range []string{`[1]`, `[-1,2]`, `[1.5,2]`, `[1e3,2]`, `["1",2]`, `{}`, `null`, `[9223372036854775808,1]`} {
		var out Side
		err := json.Unmarshal([]byte(`{"result":{},"per_connection_ns":`+s+`}`), &out)
		if s != `null` && !errors.Is(err, ErrMalf) {
			t.Errorf("%s: %v, want ErrMalf", s, err)
		}
	}
	var out Side
	if err := json.Unmarshal([]byte(`{"per_connection_ns":[1,2]}`), &out); !errors.Is(err, ErrMalf) {
		t.Errorf("no result: %v, want ErrMalf", err)
	}
}

// TestFastAndGeneralDecodingAgree: the short cut must never read a line differently.
func TestFastAndGeneralDecodingAgree(t *testing.T) {
	plain := record(0, 1, 2, 3)
	many := record(1, 1, 300, 201)
	none := record(2, 1, 0, 3)
	none.Client.Result = nil
	odd := record(0, 1, 2, 3)
	odd.Reason = `quotes "per_connection_ns":[9,9] inside a text`
	server := record(0, 1, 2, 3)
	server.Server = server.Client
	for i, r := range []*Record{plain, many, none, odd, server} {
		b, err := json.Marshal(r)
		must(t, err)
		fast, err := decodeRun(b)
		must(t, err)
		var general Record
		must(t, json.Unmarshal(b, &general))
		if d := cmp.Diff(&general, fast); d != "" {
			t.Fatalf("record %d: %s", i, d)
		}
		if _, err := decodeRun(b[:len(b)-1]); !errors.Is(err, ErrMalf) {
			t.Fatalf("record %d cut short: %v", i, err)
		}
	}
	for _, bad := range []string{"1,,2", "01,2", "1,2,", "1", "-1,2", "1 2", "{}"} {
		b := []byte(`{"type":"run","client":{"result":{},"per_connection_ns":[` + bad + `]}}`)
		var general Record
		want := json.Unmarshal(b, &general)
		if _, err := decodeRun(b); (err == nil) != (want == nil) {
			t.Errorf("[%s]: %v, the general way says %v", bad, err, want)
		}
	}
}

func FuzzDecodeRun(f *testing.F) {
	b, err := json.Marshal(record(0, 1, 2, 3))
	must(f, err)
	f.Add(b)
	f.Add([]byte(`{"client":{"result":{},"per_connection_ns":[1,2]},"server":{"per_connection_ns":[3,4]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fast, err := decodeRun(b)
		var general Record
		want := json.Unmarshal(b, &general)
		if (err == nil) != (want == nil) {
			t.Fatalf("fast: %v, general: %v", err, want)
		}
		if err == nil && !cmp.Equal(&general, fast) {
			t.Fatal(cmp.Diff(&general, fast))
		}
	})
}

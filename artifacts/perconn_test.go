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

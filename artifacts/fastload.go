package artifacts

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// fastRecord decodes a run line without the JSON methods of Side: encoding/json would scan each side twice more for them.
type fastRecord struct {
	Record
	Server fastSide `json:"server"`
	Client fastSide `json:"client"`
}

type fastSide struct {
	plainSide
	PerConn json.RawMessage `json:"per_connection_ns"`
}

// decodeRun decodes a run line. The per-connection array, by far most of a line's bytes, is cut out and parsed by itself; whatever does not
// have the form that this package writes takes the general way, with the same result.
func decodeRun(b []byte) (*Record, error) {
	rest, conns, ok := cutConns(b)
	if ok {
		var f fastRecord
		if err := json.Unmarshal(rest, &f); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalf, err)
		}
		if f.holds(conns) {
			f.Record.Server, f.Record.Client = Side(f.Server.plainSide), Side(f.Client.plainSide)
			if len(conns) > 0 {
				f.Record.Client.Result.PerConn = conns
			}
			return &f.Record, nil
		}
	}
	r := new(Record)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	return r, nil
}

// holds checks that what was cut out was the client's own array, and that nothing else goes by its name.
func (f *fastRecord) holds(conns flatConns) bool {
	if f.Server.PerConn != nil {
		return false
	}
	if len(conns) == 0 {
		return f.Client.PerConn == nil
	}
	return string(f.Client.PerConn) == "[]" && f.Client.Result != nil
}

// cutConns empties the one per_connection_ns array of a line and returns its content. The mark cannot stand inside a JSON string, where
// its quotes would be escaped. ok is false where there are several, or something else than numbers inside.
func cutConns(b []byte) (rest []byte, conns flatConns, ok bool) {
	mark := []byte(`"per_connection_ns":[`)
	i := bytes.Index(b, mark)
	if i < 0 {
		return b, nil, true
	}
	from := i + len(mark)
	n := bytes.IndexByte(b[from:], ']')
	if n < 0 || bytes.Contains(b[from:], mark) || !strictNumbers(b[from:from+n]) {
		return nil, nil, false
	}
	if err := conns.UnmarshalJSON(b[from-1 : from+n+1]); err != nil {
		return nil, nil, false
	}
	rest = make([]byte, 0, len(b)-n)
	return append(append(rest, b[:from]...), b[from+n:]...), conns, true
}

// strictNumbers accepts digits separated by single commas, without leading zeros: what cutConns takes out must be valid JSON, since
// nothing else looks at it.
func strictNumbers(b []byte) bool {
	start := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && b[i] != ',' {
			if b[i] < '0' || b[i] > '9' {
				return false
			}
			continue
		}
		if i == start || b[start] == '0' && i > start+1 {
			return false
		}
		start = i + 1
	}
	return true
}

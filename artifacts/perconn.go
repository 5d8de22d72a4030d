package artifacts

import (
	"encoding/json"
	"fmt"
	"strconv"

	"transportbench/transports/wire"
)

// flatConns stores per-connection results as one array of integers: burst_ns, rtt_sum_ns, burst_ns, rtt_sum_ns ... by connection index.
// Objects would be two thirds of a journal's bytes and nine tenths of the time to load it.
type flatConns []wire.ConnResult

// sideJSON is a Side as it stands in the journal.
type sideJSON struct {
	plainSide
	PerConn flatConns `json:"per_connection_ns,omitempty"`
}

type plainSide Side

// MarshalJSON moves Result.PerConn into per_connection_ns.
func (s Side) MarshalJSON() ([]byte, error) {
	out := sideJSON{plainSide: plainSide(s)}
	if s.Result != nil && len(s.Result.PerConn) > 0 {
		result := *s.Result
		out.PerConn, result.PerConn = result.PerConn, nil
		out.Result = &result
	}
	return json.Marshal(out)
}

// UnmarshalJSON puts per_connection_ns back into Result.PerConn.
func (s *Side) UnmarshalJSON(b []byte) error {
	var in sideJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Side(in.plainSide)
	if len(in.PerConn) > 0 {
		if s.Result == nil {
			return fmt.Errorf("%w: per_connection_ns without a result", ErrMalf)
		}
		s.Result.PerConn = in.PerConn
	}
	return nil
}

// MarshalJSON writes the flat array.
func (f flatConns) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 24*len(f)+2)
	b = append(b, '[')
	for i, c := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, c.BurstNS, 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, c.RTTSumNS, 10)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads non-negative integers only; b is valid JSON.
func (f *flatConns) UnmarshalJSON(b []byte) error {
	var flat []int64
	inside, n := false, int64(0)
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			if n > (1<<62)/10 {
				return fmt.Errorf("%w: per_connection_ns holds a number over 2^62", ErrMalf)
			}
			inside, n = true, 10*n+int64(c-'0')
		case c == ',' || c == ']':
			if inside {
				flat = append(flat, n)
			}
			inside, n = false, 0
		case c != '[' && c != ' ':
			return fmt.Errorf("%w: per_connection_ns holds %q", ErrMalf, c)
		}
	}
	if len(flat)%2 != 0 {
		return fmt.Errorf("%w: per_connection_ns holds %d numbers, want pairs", ErrMalf, len(flat))
	}
	*f = make(flatConns, len(flat)/2)
	for i := range *f {
		(*f)[i] = wire.ConnResult{BurstNS: flat[2*i], RTTSumNS: flat[2*i+1]}
	}
	return nil
}

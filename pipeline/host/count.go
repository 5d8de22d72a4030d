package host

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Unknown stands wherever the kernel does not tell.
const Unknown = "unknown"

// Count is an integer that may be unknown. The zero value is unknown, so a forgotten field never reads as 0.
type Count struct {
	n     int64
	known bool
}

// Known makes a known count.
func Known(n int64) Count { return Count{n: n, known: true} }

// Get returns the number and whether it is known.
func (c Count) Get() (n int64, known bool) { return c.n, c.known }

// sub is unknown when either side is.
func (c Count) sub(earlier Count) Count {
	if !c.known || !earlier.known {
		return Count{}
	}
	return Known(c.n - earlier.n)
}

// plus is unknown when either side is.
func (c Count) plus(d Count) Count {
	if !c.known || !d.known {
		return Count{}
	}
	return Known(c.n + d.n)
}

// times scales a known count by a positive factor, as from KiB to bytes; what overflows cannot have been a real count.
func (c Count) times(factor int64) Count {
	scaled := c.n * factor
	if !c.known || scaled/factor != c.n {
		return Count{}
	}
	return Known(scaled)
}

// String is the number or "unknown".
func (c Count) String() string {
	if !c.known {
		return Unknown
	}
	return strconv.FormatInt(c.n, 10)
}

// MarshalJSON writes a number, or the string "unknown".
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.known {
		return json.Marshal(Unknown)
	}
	return strconv.AppendInt(nil, c.n, 10), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == `"`+Unknown+`"` {
		*c = Count{}
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("count %s: want an integer or %q", b, Unknown)
	}
	*c = Known(n)
	return nil
}

// parseCount reads a decimal number; anything else is unknown.
func parseCount(s string) Count {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return Count{}
	}
	return Known(n)
}

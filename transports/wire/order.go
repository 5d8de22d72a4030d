package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// RoleDescribe is the "role" of `driver describe` for NewStream.
const RoleDescribe = "describe"

// ErrMissing is wrapped by the error for an output that ended before the last required record.
var ErrMissing = errors.New("record is missing")

// sequence lists the records that a role must write, in order.
func sequence(role string) []string {
	switch role {
	case RoleServer:
		return []string{TypeHello, TypeReady, TypeDone}
	case RoleClient:
		return []string{TypeHello, TypeConnected, TypeStart, TypeResult}
	case RoleDescribe:
		return []string{TypeDescribe}
	}
	return nil
}

// order checks that records come as the contract says: the role's own in sequence, connections chunks right before the result, an
// error at most once and as the driver's last, launch's exit after everything.
type order struct {
	role   string
	passed int // records of the sequence so far
	n      int // connections announced by the connected record
	chunks []ConnResult
	failed bool // an error record was seen
	exited bool
}

// add returns the record to hand out: nil for a connections chunk, a result with all its chunks.
func (o *order) add(r Record) (Record, error) {
	name := r.name()
	if o.exited {
		return nil, fmt.Errorf("%s record after launch's exit record", name)
	}
	switch r := r.(type) {
	case Exit:
		o.exited = true
		return r, nil
	case Error:
		if o.failed {
			return nil, errors.New("second error record")
		}
		o.failed = true
		return r, checkValues(r)
	}
	if o.failed {
		return nil, fmt.Errorf("%s record after the error record", name)
	}
	if c, ok := r.(Connections); ok {
		return nil, o.addChunk(c)
	}
	if err := o.step(name); err != nil {
		return nil, err
	}
	return o.joined(r)
}

// joined checks the values of r and gives a result its chunks.
func (o *order) joined(r Record) (Record, error) {
	if err := checkValues(r); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case Connected:
		o.n = r.N
	case Result:
		if o.chunks != nil && r.PerConn != nil {
			return nil, errors.New("result record has per_connection although connections records came before it")
		}
		if o.chunks != nil {
			r.PerConn = o.chunks
		}
		if r.PerConn != nil && len(r.PerConn) != o.n {
			return nil, fmt.Errorf("result is about %d connections: %d were announced", len(r.PerConn), o.n)
		}
		return r, nil
	}
	return r, nil
}

// step moves one record along the sequence.
func (o *order) step(name string) error {
	seq := sequence(o.role)
	if o.passed < len(seq) && seq[o.passed] == name {
		o.passed++
		return nil
	}
	want := "nothing"
	if o.passed < len(seq) {
		want = seq[o.passed]
	}
	if !slices.Contains(seq, name) {
		return fmt.Errorf("%s record does not belong to a %s", name, o.role)
	}
	return fmt.Errorf("%s record out of order: want %s", name, want)
}

func (o *order) addChunk(c Connections) error {
	seq := sequence(o.role)
	if o.passed >= len(seq) || seq[o.passed] != TypeResult {
		return errors.New("connections record out of order: it comes right before result")
	}
	if c.First != len(o.chunks) {
		return fmt.Errorf("connections record starts at %d: want %d", c.First, len(o.chunks))
	}
	o.chunks = append(o.chunks, c.PerConn...)
	return nil
}

// end is the verdict at the end of the output: nothing missing gives io.EOF. blank says that its last line was empty.
func (o *order) end(blank bool) error {
	seq := sequence(o.role)
	if blank {
		return fmt.Errorf("driver output ended with an empty line: exit %w", ErrMissing)
	}
	if o.failed || o.passed == len(seq) {
		return io.EOF
	}
	return fmt.Errorf("driver output ended: %s: %w", strings.Join(seq[o.passed:], ", "), ErrMissing)
}

package calibrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

// session is one calibration in progress.
type session struct {
	ctx  context.Context //nolint:containedctx // lives as long as Run
	o    Options
	seed [32]byte
	say  func(string) // progress, one line at a time
}

// Run calibrates the backends in the current network namespace, which must be a scratch one that holds nothing but the
// calling process. say gets a line for each step. A backend that does not work here is part of the report, not an error.
func Run(ctx context.Context, o Options, say func(string)) (*Report, error) {
	s := session{ctx: ctx, o: o, seed: sha256.Sum256([]byte(o.Seed)), say: say}
	r := &Report{Schema: Schema, Options: o}
	for _, name := range o.Backends {
		r.Backends = append(r.Backends, Backend{Name: name, Unsupported: missing(link.Probe(ctx), name)})
	}
	say("plain: base RTT")
	if err := s.with(link.BackendPlain, matrix.LinkSpec{}, s.seed, func(*link.Applied) (err error) {
		r.Plain.RTT, err = s.rtt(idleRounds, 1, 0)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range r.Backends {
		if b := &r.Backends[i]; b.Unsupported == "" {
			if err := s.backend(b, r.Plain); err != nil {
				return nil, fmt.Errorf("backend %s: %w", b.Name, err)
			}
		}
	}
	return r, s.cost(r)
}

// missing says why a backend does not work here, or nothing.
func missing(caps []link.Capability, name string) string {
	for _, c := range caps {
		if c.Backend != name {
			continue
		}
		if c.OK {
			return ""
		}
		return (&link.UnsupportedError{Missing: c.Reason, Fix: c.Fix}).Error()
	}
	return "not a backend: use netem, nft or nfqueue"
}

func (s *session) backend(b *Backend, plain Plain) error {
	for _, step := range []func(*Backend, Plain) error{s.losses, s.replay, s.batches, s.delay} {
		if err := step(b, plain); err != nil {
			return err
		}
	}
	return nil
}

// with applies a link, measures on it and takes it away.
func (s *session) with(backend string, spec matrix.LinkSpec, seed [32]byte, measure func(*link.Applied) error) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	a, err := link.Apply(s.ctx, spec, link.Options{Backend: backend, Seed: seed, Port: serverPort})
	if err != nil {
		return err
	}
	return errors.Join(measure(a), a.Close())
}

// digest identifies the set of datagrams that were lost.
func (o *outcome) digest() string {
	h := sha256.New()
	for i := range o.atServer {
		h.Write([]byte{bit(o.atServer[i]) | bit(o.atClient[i])<<1})
	}
	return hex.EncodeToString(h.Sum(nil))
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

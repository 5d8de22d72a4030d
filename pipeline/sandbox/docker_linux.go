package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Limits of every container. They guard the machine and are far from what a driver needs; the artifact states them.
type Limits struct {
	MemoryBytes int64 `json:"memory_bytes"` // of one driver's container, without swap
	PIDs        int64 `json:"pids"`         // processes and threads of one container
	NoFile      int64 `json:"nofile"`       // open files of one process
}

// DefaultLimits leave room for 1,024 connections of the hungriest driver and for two threads a connection.
func DefaultLimits() Limits { return Limits{MemoryBytes: 8 << 30, PIDs: 4096, NoFile: nofileCap} }

// DockerOptions are what the Docker runtime needs of its caller.
type DockerOptions struct {
	Holder   *Image             // its /bench is a program that hands HolderArg to HolderMain
	Programs map[string]Program // by ProcSpec.Path; every image has launch at /launch
	Limits   Limits
}

// Docker is the runtime on a container engine: one container a run holds the network and its link, the drivers' containers join it. Nothing
// of it needs a registry, a bridge or a bind mount, so that rootless and remote engines work.
type Docker struct {
	opt     DockerOptions
	engine  *engine
	owner   owner
	session string
	strays  Strays

	mu   sync.Mutex
	ids  map[*Image]string // of images known to be in the engine
	next int               // number of the next container
}

// NewDocker connects to the engine and removes what dead benches have left there. An *UnsupportedError says what keeps the engine from
// being used.
func NewDocker(ctx context.Context, opt DockerOptions) (*Docker, error) {
	if opt.Holder == nil {
		return nil, errors.New("docker runtime: no image for the holder was given")
	}
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	d := &Docker{opt: opt, engine: e, ids: map[*Image]string{}}
	if d.owner, err = self(os.DirFS("/")); err == nil {
		d.strays, err = e.removeStrays(ctx, d.owner)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	random := make([]byte, 6)
	_, _ = rand.Read(random) // never fails, see crypto/rand
	d.session = hex.EncodeToString(random)
	return d, nil
}

// Name returns "docker".
func (d *Docker) Name() string { return "docker" }

// Engine says which engine answered.
func (d *Docker) Engine() Engine { return d.engine.info }

// Strays says what was found of dead benches at the start.
func (d *Docker) Strays() Strays { return d.strays }

// Limits are those of every container.
func (d *Docker) Limits() Limits { return d.opt.Limits }

// Close removes whatever of this runtime is still in the engine. Images stay: the next session needs them.
func (d *Docker) Close() error {
	ctx, cancel := within(context.Background())
	defer cancel()
	_, err := d.engine.removeSession(ctx, d.session)
	return errors.Join(err, d.engine.close())
}

// Probe reports what the engine's machine can do, from inside of a container.
func (d *Docker) Probe(ctx context.Context) (Probe, error) {
	p := Probe{Namespaces: "ok"}
	e, err := d.start(ctx, "probe")
	if err != nil {
		return p, err
	}
	defer func() { _ = e.Close() }()
	rep, err := e.call(ctx, request{Op: opProbe}, nil)
	if err != nil {
		return p, err
	}
	if rep.Facts == nil {
		return p, errors.New("holder: the answer to probe has no facts")
	}
	p.Links, p.NoFileHard, p.Topology, p.Environment = rep.Links, rep.Facts.NoFileHard, rep.Facts.Topology, rep.Facts.Environment
	p.CPUs = ids(rep.Facts.Topology)
	engine := d.Engine()
	p.Engine = &engine
	return p, nil
}

// Open makes a network of its own in a holder's container and applies the link in it.
func (d *Docker) Open(ctx context.Context, spec EnvSpec) (Env, error) {
	e, err := d.start(ctx, spec.RunID)
	if err != nil {
		return nil, err
	}
	if err := e.applyLink(ctx, spec); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// image returns the engine's id of an image, loading it at its first use.
func (d *Docker) image(ctx context.Context, img *Image) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.ids[img]; ok {
		return id, nil
	}
	id, err := d.engine.load(ctx, img)
	if err == nil {
		d.ids[img] = id
	}
	return id, err
}

// boxName is unique in the engine and says to a human whose container it is.
func (d *Docker) boxName(role string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	return fmt.Sprintf("transportbench-%s-%d-%s", d.session, d.next, role)
}

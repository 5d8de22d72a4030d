package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	roleHolder = "holder"
	// nobody is the user of the drivers, as of the images' /results.
	nobody = "65534:65534"
	// resultsPath is where a driver writes its samples: an anonymous volume, because the root is read-only.
	resultsPath = "/results"
	launchPath  = "/launch"
	benchPath   = "/bench"
)

// boxSpec is one container.
type boxSpec struct {
	role    string
	run     string
	image   *Image
	argv    []string
	cpus    []int  // nil: every CPU of the engine
	holder  string // container whose network and processes it joins; empty: it is a holder
	results bool   // has resultsPath
}

// box is a container that bench made.
type box struct {
	engine *engine
	id     string
	conn   client.HijackedResponse
	facts  Container
}

// create makes a container, attaches to it and starts it. A container that cannot be used is removed again.
func (d *Docker) create(ctx context.Context, spec boxSpec) (*box, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("container of %s: %w", spec.run, context.Cause(ctx))
	}
	id, err := d.image(ctx, spec.image)
	if err != nil {
		return nil, err
	}
	work, cancel := within(ctx)
	defer cancel()
	made, err := d.engine.provider.CreateContainer(work, d.request(spec, id))
	if made == nil || err != nil {
		if made != nil {
			err = errors.Join(err, d.engine.remove(work, made.GetContainerID()))
		}
		return nil, engineError("making the container of "+spec.role, err)
	}
	b := &box{engine: d.engine, id: made.GetContainerID()}
	if err = b.readBack(work, id); err == nil {
		err = b.attach(work, spec.holder == "")
	}
	if err == nil {
		err = engineError("starting the container of "+spec.role, made.Start(work))
	}
	if err == nil {
		err = context.Cause(ctx) // interrupted meanwhile
	}
	if err != nil {
		b.hangUp()
		return nil, errors.Join(err, d.engine.remove(work, b.id))
	}
	return b, nil
}

// request is the container in the words of the library.
func (d *Docker) request(spec boxSpec, image string) testcontainers.ContainerRequest {
	return testcontainers.ContainerRequest{
		Image: image, Name: d.boxName(spec.role), Entrypoint: spec.argv[:1], Cmd: spec.argv[1:],
		Labels: d.owner.labels(d.session, spec.role, spec.run),
		ConfigModifier: func(c *container.Config) {
			c.User, c.AttachStdout, c.AttachStderr = nobody, true, true
			if spec.holder == "" {
				c.User, c.AttachStdin, c.OpenStdin, c.StdinOnce = "0:0", true, true, true
			}
		},
		HostConfigModifier: func(h *container.HostConfig) { d.confine(spec, h) },
		LifecycleHooks:     []testcontainers.ContainerLifecycleHooks{},
	}
}

// confine gives a container its place and no more rights than it needs: the holder may change its own network, a driver may nothing.
func (d *Docker) confine(spec boxSpec, h *container.HostConfig) {
	l := d.opt.Limits
	if spec.holder == "" {
		l.MemoryBytes = DefaultLimits().MemoryBytes // the holder is no driver, and its end would be taken for the machine's
	}
	h.ReadonlyRootfs, h.CapDrop, h.SecurityOpt = true, []string{"ALL"}, []string{"no-new-privileges"}
	h.LogConfig = container.LogConfig{Type: "none"} // what it says is read while it says it
	h.NetworkMode = noNetwork
	h.Resources = container.Resources{
		Memory: l.MemoryBytes, MemorySwap: l.MemoryBytes, PidsLimit: &l.PIDs, CpusetCpus: FormatCPUList(spec.cpus),
		Ulimits: []*container.Ulimit{{Name: "nofile", Soft: l.NoFile, Hard: l.NoFile}},
	}
	if d.engine.info.podman() {
		// It asks for a default of its own, which a root without CAP_SYS_RESOURCE may not set.
		h.Ulimits = append(h.Ulimits, &container.Ulimit{Name: "nproc", Soft: l.PIDs, Hard: l.PIDs})
	}
	if spec.holder == "" {
		h.CapAdd = []string{"NET_ADMIN"}
	} else {
		// One PID namespace: the holder's end takes the drivers along, and it can read their threads.
		h.NetworkMode, h.PidMode = container.NetworkMode("container:"+spec.holder), container.PidMode("container:"+spec.holder)
	}
	if spec.results {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeVolume, Target: resultsPath,
			VolumeOptions: &mount.VolumeOptions{Labels: d.owner.labels(d.session, spec.role, spec.run)},
		})
	}
}

// readBack asks the engine what it made of the request: engines drop limits that their kernel lacks.
func (b *box) readBack(ctx context.Context, image string) error {
	got, err := b.engine.api.ContainerInspect(ctx, b.id, client.ContainerInspectOptions{})
	if err != nil {
		return engineError("reading a container back", err)
	}
	c := got.Container
	if c.Image != image {
		return &ImageError{c.Config.Image, image, "digest mismatch: the container would run " + c.Image}
	}
	h := c.HostConfig
	b.facts = Container{Image: c.Image, Cpuset: h.CpusetCpus, MemoryBytes: h.Memory, User: c.Config.User, ReadOnly: h.ReadonlyRootfs}
	if h.PidsLimit != nil {
		b.facts.PIDs = *h.PidsLimit
	}
	i := slices.IndexFunc(h.Ulimits, func(u *container.Ulimit) bool { return u.Name == "nofile" || u.Name == "RLIMIT_NOFILE" })
	if i >= 0 {
		b.facts.NoFile = h.Ulimits[i].Hard
	}
	return nil
}

// attach must come before the start, or the first output is lost.
func (b *box) attach(ctx context.Context, stdin bool) error {
	res, err := b.engine.api.ContainerAttach(ctx, b.id, client.ContainerAttachOptions{Stream: true, Stdin: stdin, Stdout: true, Stderr: true})
	if err != nil {
		return engineError("attaching to a container", err)
	}
	b.conn = res.HijackedResponse
	return nil
}

// copyOutput runs until the container has ended and everything it said is written, or one of the writers fails.
func (b *box) copyOutput(stdout, stderr io.Writer) error {
	_, err := stdcopy.StdCopy(stdout, stderr, b.conn.Reader)
	return err
}

// ended waits for the container's end and notes how it was. A container that somebody removed has no more to tell.
func (b *box) ended(ctx context.Context) error {
	wait := b.engine.api.ContainerWait(ctx, b.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case res := <-wait.Result:
		b.facts.ExitCode = int(res.StatusCode)
	case err := <-wait.Error:
		if cerrdefs.IsNotFound(err) {
			return errors.New("removed")
		}
		return engineError("waiting for a container", err)
	}
	got, err := b.engine.api.ContainerInspect(ctx, b.id, client.ContainerInspectOptions{})
	if err != nil {
		return engineError("reading the end of a container", err)
	}
	b.facts.OOMKilled = got.Container.State.OOMKilled
	return nil
}

func (b *box) hangUp() {
	if b.conn.Conn != nil {
		b.conn.Close()
	}
}

func (b *box) kill(ctx context.Context, signal string) error {
	_, err := b.engine.api.ContainerKill(ctx, b.id, client.ContainerKillOptions{Signal: signal})
	ended := err != nil && strings.Contains(err.Error(), "can only kill running containers") // podman, with a status of its own
	if err == nil || ended || cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) {         // conflict: it is not running
		return nil
	}
	return engineError("sending "+signal+" to a container", err)
}

package sandbox

import (
	"context"
	"fmt"
	"io"

	"github.com/moby/moby/client"
)

// Stop asks the driver to end and kills it after ProcSpec.StopTERM. It returns when launch is gone or the driver was killed.
func (p *dockerProcess) Stop() error {
	if p.over() {
		return nil
	}
	ctx, cancel := within(context.Background())
	defer cancel()
	if err := p.box.kill(ctx, "TERM"); err != nil && !p.over() {
		return err
	}
	return killLate(p.spec, p.done, p.env.gone, p.Kill)
}

func (p *dockerProcess) over() bool {
	select {
	case <-p.done:
		return true
	case <-p.env.gone:
		return true
	default:
		return false
	}
}

// Kill ends the driver's process group at once and leaves launch alive, whose exit record still tells the peak RSS. The signal comes
// from a process of the drivers' user beside the holder, which itself may signal nobody.
func (p *dockerProcess) Kill() error {
	if p.over() {
		return nil
	}
	ctx, cancel := within(context.Background())
	defer cancel()
	api := p.env.rt.engine.api
	made, err := api.ExecCreate(ctx, p.env.box.id, client.ExecCreateOptions{
		User: nobody, Cmd: []string{benchPath, holdWords[0], holdWords[1], holderKill, p.box.id}, AttachStdout: true, AttachStderr: true,
	})
	if err == nil {
		err = p.runKill(ctx, made.ID)
	}
	if err != nil && !p.over() {
		return engineError("killing a driver", err)
	}
	return nil
}

func (p *dockerProcess) runKill(ctx context.Context, exec string) error {
	api := p.env.rt.engine.api
	res, err := api.ExecAttach(ctx, exec, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer res.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Reader, tailBytes)) // ends with the process
	end, err := api.ExecInspect(ctx, exec, client.ExecInspectOptions{})
	if err == nil && end.ExitCode != 0 {
		err = fmt.Errorf("exit code %d: %q", end.ExitCode, said)
	}
	return err
}

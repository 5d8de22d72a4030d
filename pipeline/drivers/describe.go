package drivers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"transportbench/transports/wire"
)

const (
	describeTimeout = 10 * time.Second // a loaded machine may need seconds to start a program, never ten
	describeBytes   = wire.MaxLine     // the contract's limit of one line
)

// bounded keeps the first bytes and remembers that there were more.
type bounded struct {
	buf  bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := describeBytes - b.buf.Len()
	if len(p) > room {
		b.over = true
	}
	b.buf.Write(p[:min(room, len(p))])
	return len(p), nil
}

// Describe runs `driver describe` with an empty environment, a deadline and bounded output.
func Describe(ctx context.Context, path string) (*wire.Describe, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	var out, log bounded
	cmd := exec.CommandContext(ctx, path, "describe")
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, &out, &log
	cmd.WaitDelay = time.Second // a child that keeps the pipe open does not hold us
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("describe: no answer within %s", describeTimeout)
	case err != nil:
		return nil, fmt.Errorf("describe: %w%s", err, firstLine(log.buf.Bytes()))
	case out.over:
		return nil, fmt.Errorf("describe: more than %d bytes", describeBytes)
	}
	return decodeDescribe(out.buf.Bytes())
}

func firstLine(b []byte) string {
	l, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.200s)", l)
}

func decodeDescribe(b []byte) (*wire.Describe, error) {
	var d wire.Describe
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("describe: not one JSON object: %w", err)
	}
	switch {
	case d.Type != wire.TypeDescribe:
		return nil, fmt.Errorf("describe: record of type %q", d.Type)
	case d.Contract != wire.ContractVersion:
		return nil, fmt.Errorf("describe: driver contract %d, this bench speaks %d", d.Contract, wire.ContractVersion)
	case len(d.APIs) == 0:
		return nil, errors.New("describe: no API is offered")
	}
	return &d, nil
}

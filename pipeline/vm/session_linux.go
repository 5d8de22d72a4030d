package vm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	silence     = 180 * time.Second // without any frame the guest hangs: it sends one every aliveEvery
	stopGrace   = 60 * time.Second  // from an interrupt to the end of the guest
	powerOff    = 10 * time.Second  // from the last word to the end of QEMU
	maxStream   = 1 << 30           // bytes of stdout and stderr together
	maxGreeting = 4 << 10
)

// session is one guest while it runs.
type session struct {
	e        *emulator
	m        *Machine
	began    time.Time
	patience time.Duration // for the first word
	res      Result
	streamed int64
	heard    bool // the first word came
}

// boot starts one guest and follows it to its end.
func (m *Machine) boot(ctx context.Context, facts Facts, initrd, out string) (Result, error) {
	s := &session{m: m, began: time.Now(), patience: bootTCG, res: Result{Facts: facts}}
	if facts.Accelerator == AccelKVM {
		s.patience = bootKVM
	}
	var err error
	if s.e, err = m.start(facts.Accelerator, initrd); err != nil {
		return s.res, &BootError{Accel: facts.Accelerator, Err: err}
	}
	stopWatching := context.AfterFunc(ctx, s.stop)
	end, err := s.follow(out)
	stopWatching()
	s.e.end(err != nil || !s.gone())
	s.res.Console = s.e.console.bytes()
	switch {
	case err == nil && end.Error != "":
		err = errors.New("guest: " + end.Error)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("ended before its job did (QEMU: %v)", s.e.exit)
	}
	switch {
	case err != nil && !s.heard:
		return s.res, &BootError{facts.Accelerator, s.res.Console, err}
	case err != nil:
		return s.res, &RunError{s.res.Console, err}
	}
	s.res.Code = end.Code
	return s.res, nil
}

// stop passes an interrupt on. A guest that has not said its first word has nothing to bring back.
func (s *session) stop() {
	if writeFrame(s.e.port, frameStop, nil) != nil {
		s.e.kill()
		return
	}
	time.AfterFunc(stopGrace, s.e.kill)
}

// gone gives QEMU a moment to end by itself.
func (s *session) gone() bool {
	t := time.NewTimer(powerOff)
	defer t.Stop()
	select {
	case <-s.e.gone:
		return true
	case <-t.C:
		return false
	}
}

// follow reads frames until the guest's last word. Results are unpacked while they arrive, so that nothing piles up.
func (s *session) follow(out string) (exit, error) {
	results, archive := io.Pipe()
	var unpacking errgroup.Group
	unpacking.Go(func() error { // ends when the archive is closed
		err := unpackInto(out, results)
		results.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // what still comes is not waited for
		return err
	})
	end, err := s.frames(archive)
	if err != nil {
		archive.CloseWithError(err)
	} else {
		archive.Close()
	}
	unpacked := unpacking.Wait()
	if err == nil {
		err = unpacked
	}
	if err == nil {
		err = writeFrame(s.e.port, frameBye, nil)
	}
	return end, err
}

// unpackInto makes the folder with the first byte: a guest that sends nothing leaves no trace.
func unpackInto(out string, results io.Reader) error {
	var first [1]byte
	if _, err := io.ReadFull(results, first[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if out == "" {
		return fmt.Errorf("%w: none were asked for", errResults)
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	defer root.Close()
	all := io.MultiReader(bytes.NewReader(first[:]), results)
	if err := unpack(root, all, MaxResultBytes); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, all) // padding behind the archive
	return err
}

// frames handles every frame until the last.
func (s *session) frames(archive io.Writer) (exit, error) {
	buf := make([]byte, maxFrame)
	for {
		limit := silence
		if !s.heard {
			limit = time.Until(s.began.Add(s.patience))
		}
		if err := s.e.port.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return exit{}, err
		}
		k, payload, err := readFrame(s.e.port, buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return exit{}, fmt.Errorf("hangs: no word for %s", limit.Round(time.Second))
		}
		if err != nil {
			return exit{}, err
		}
		if k == frameExit {
			return decodeExit(payload)
		}
		if err := s.handle(k, payload, archive); err != nil {
			return exit{}, err
		}
	}
}

func (s *session) handle(k frameKind, payload []byte, archive io.Writer) error {
	if (k == frameHello) == s.heard {
		return fmt.Errorf("%w: %q comes out of turn", errFrame, byte(k))
	}
	var err error
	switch k {
	case frameHello:
		return s.greet(payload)
	case frameAlive:
	case frameStdout:
		err = s.stream(s.m.Stdout, payload)
	case frameStderr:
		err = s.stream(s.m.Stderr, payload)
	case frameTar:
		_, err = archive.Write(payload)
	default:
		err = fmt.Errorf("%w: %q is not a guest's", errFrame, byte(k))
	}
	return err
}

func (s *session) greet(payload []byte) error {
	var h hello
	if len(payload) > maxGreeting {
		return fmt.Errorf("%w: greeting of %d bytes", errFrame, len(payload))
	}
	if err := json.Unmarshal(payload, &h); err != nil {
		return fmt.Errorf("%w: greeting: %w", errFrame, err)
	}
	if h.Release != s.res.Facts.Release {
		return fmt.Errorf("kernel says it is %.80q, want %s: its modules are of another kernel", h.Release, s.res.Facts.Release)
	}
	s.heard = true
	s.res.BootNS, s.res.Kernel = time.Since(s.began), time.Duration(h.UptimeNS)
	return nil
}

// stream passes output on. A reader that has gone away does not stop the job.
func (s *session) stream(w io.Writer, b []byte) error {
	if s.streamed += int64(len(b)); s.streamed > maxStream {
		return fmt.Errorf("command wrote more than %d bytes", maxStream)
	}
	if w != nil {
		_, _ = w.Write(b)
	}
	return nil
}

func decodeExit(payload []byte) (exit, error) {
	var x exit
	if err := json.Unmarshal(payload, &x); err != nil {
		return x, fmt.Errorf("%w: exit: %w", errFrame, err)
	}
	if x.Code < 0 || x.Code > 255 {
		return x, fmt.Errorf("%w: exit code %d", errFrame, x.Code)
	}
	return x, nil
}

//go:build !unix

package echotest

import (
	"errors"
	"os"
	"os/exec"
)

func newGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func terminate(*exec.Cmd) error { return errors.New("SIGTERM: not on this system") }

func exitOf(st *os.ProcessState) (code int, signal string) {
	if st == nil {
		return -1, ""
	}
	return st.ExitCode(), ""
}

package enet

import (
	"fmt"
	"os"
	"testing"

	"transportbench/transports/echotest/private"
)

// Source ports are fixed, so the tests run in a network of their own.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "enet")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workDir = dir
	code := private.Tests(m)
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

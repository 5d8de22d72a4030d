package interop

import (
	"os"
	"testing"

	"transportbench/transports/echotest/private"
)

// Source ports are fixed, so the tests run in a network of their own.
func TestMain(m *testing.M) { os.Exit(private.Tests(m)) }

package runner

import (
	"os"
	"testing"

	"transportbench/pipeline/sandbox"
)

// TestMain lets the local runtime re-execute this program as the holder of a private network.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HolderArg {
		os.Exit(sandbox.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

package sandbox_test

import (
	"testing"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

var _ sandbox.Runtime = (*sandbox.Docker)(nil)

func TestDockerConformance(t *testing.T) {
	runtimetest.Suite{Runtime: newTestDocker(t), Probe: probePath}.Run(t)
}

package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

// dockerParentArg makes the test program a bench that is killed in the middle of a run in containers.
const dockerParentArg = "__docker-parent"

// dockerParentMain opens a network, starts a driver that writes samples, says so and waits to be killed.
func dockerParentMain(args []string) int {
	launchPath = args[0]
	if err := dockerParent(); err != nil {
		fmt.Println(err)
	}
	return 1
}

func dockerParent() error {
	opt, err := testDockerOptions()
	if err != nil {
		return err
	}
	d, err := sandbox.NewDocker(context.Background(), opt)
	if err != nil {
		return err
	}
	env, err := d.Open(context.Background(), runtimetest.Spec())
	if err != nil {
		return err
	}
	_, err = env.Start(context.Background(), sandbox.ProcSpec{
		Name: "client", Path: probePath, Args: []string{runtimetest.ProbeArg, "tree", "x"}, Samples: "/nowhere/a.rtt",
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// TestDockerKilledBench: the next start removes everything of a bench that was killed, and nothing of one that lives.
func TestDockerKilledBench(t *testing.T) {
	d := newTestDocker(t)
	before, err := sandbox.EngineState(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	living := openIn(t, d)
	killParent(t)
	strays, err := sandbox.RemoveStrays(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strays.Removed); n != 2 && n != 3 { // the volume goes with its container
		t.Errorf("removed %q: want a holder and a client", strays.Removed)
	}
	if _, err := living.Counters(t.Context()); err != nil {
		t.Errorf("the network of a living bench: %v", err)
	}
	if err := living.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := sandbox.EngineState(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("engine before %q, after %q", before, after)
	}
}

// killParent lets a bench get in the middle of a run and kills it.
func killParent(t *testing.T) {
	t.Helper()
	cmd := exec.Command(self(t), dockerParentArg, launchPath)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := bufio.NewReader(out).ReadString('\n')
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed, as it should be
	if said != "ready\n" {
		t.Fatalf("bench said %q", said)
	}
}

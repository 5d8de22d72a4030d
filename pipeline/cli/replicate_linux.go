package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runReplica is how a replication is measured: bench run, told what it repeats. lock is the path of the machine's lock.
func runReplica(lock string) (flags func(*pflag.FlagSet), measure measureFunc) {
	f := &runFlags{lockPath: lock}
	return f.sessionFlags, func(cmd *cobra.Command, r *replica) (string, error) {
		if f.progress == "json" {
			return "", usage("--progress json: bench replicate prints a verdict; use plain")
		}
		f.selection, f.unpinned, f.replica = r.selection, r.unpinned, r
		if f.sameRuntime(r.runtime); f.runtime == runtimeVM {
			return "", usage("--runtime vm: a virtual machine is not told what it repeats; choose local or docker with --runtime")
		}
		if f.out == "" {
			if err := os.MkdirAll(resultsDir, 0o755); err != nil {
				return "", fail(ExitEnvironment, fmt.Errorf("results folder: %w; choose another with --out", err))
			}
			f.out = filepath.Join(resultsDir, artifactID(r.plan.Matrix, time.Now()))
		}
		return f.out, f.run(cmd)
	}
}

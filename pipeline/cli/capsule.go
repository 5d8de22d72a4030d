package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"transportbench/artifacts/oci"
	"transportbench/pipeline/capsule"
	"transportbench/pipeline/drivers"
)

// capsulePrograms are the packages whose modules a capsule carries: every Go driver and bench.
var capsulePrograms = []string{"./pipeline/cmd/bench", "./transports/..."}

func newCapsule() *cobra.Command {
	var out, archive string
	cmd := &cobra.Command{
		Use:   "capsule",
		Short: "Pack the sources of this checkout's commit, its modules and pinned archives into one file",
		Long: "The file holds the tree of HEAD, the Go modules that enter bench and the drivers, as a GOPROXY of files, and the pinned archives. " +
			"bench publish --capsule attaches it to an artifact; bench rebuild --offline compiles from it what the artifact was measured with. " +
			"Go itself, gcc and the system's C libraries are not in it.",
		Example: "  bench capsule --out " + oci.CapsuleFile + "\n  bench publish results/published-20261130T120000Z-1a2b3c4 oci://ghcr.io/me/results --capsule " + oci.CapsuleFile,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if archive == "" {
				archive = drivers.KCPArchive(pinsFile)
			}
			info, err := capsule.Pack(cmd.Context(), ".", out, capsulePrograms, archive)
			if err != nil {
				return fail(ExitEnvironment, err)
			}
			st, err := os.Stat(out)
			if err != nil {
				return fail(ExitEnvironment, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: commit %s, %s, %d modules, %d archives, %d bytes\n", out, info.Commit, info.Toolchain, info.Modules, len(info.Archives), st.Size())
			for _, m := range info.Missing {
				fmt.Fprintf(cmd.OutOrStdout(), "missing: %s\n", m)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", oci.CapsuleFile, "new `file`; bench publish wants this name")
	cmd.Flags().StringVar(&archive, "kcp-archive", "", "`file` with the pinned archive of KCP (default: what drivers build has fetched)")
	return cmd
}

func newRebuild() *cobra.Command {
	f := rebuildFlags{}
	cmd := &cobra.Command{
		Use:   "rebuild ARTIFACT",
		Short: "Compile an artifact's drivers from a source capsule and compare their digests with the manifest",
		Long: "Unpacks the capsule into a temporary folder and compiles launch and every driver there, with modules from the capsule alone and no " +
			"network. Sources are compiled, never run. A Go driver is equal when the toolchain is the same; programs in C also depend on this " +
			"machine's gcc and C library. Exit code 0: all equal, 1: one differs, 4: one could not be compiled here.",
		Example: "  bench pull oci://ghcr.io/me/results:published-20261130T120000Z-1a2b3c4 --capsule capsule\n" +
			"  bench rebuild results/published-20261130T120000Z-1a2b3c4 --offline --capsule capsule/" + oci.CapsuleFile,
		Args: oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.capsule, "capsule", oci.CapsuleFile, "`file` with the source capsule")
	fs.BoolVar(&f.offline, "offline", false, "use nothing but the capsule; required, there is no other way yet")
	fs.StringVar(&f.keep, "keep", "", "leave sources and binaries in this new `folder`")
	return cmd
}

// temporary makes the folder of a rebuild: the named one, which must be new, or one that is removed again.
func (f *rebuildFlags) temporary() (dir string, remove func(), err error) {
	if f.keep != "" {
		return f.keep, func() {}, os.Mkdir(f.keep, 0o755)
	}
	dir, err = os.MkdirTemp("", "bench-rebuild-")
	return dir, func() { _ = removeAll(dir) }, err
}

// removeAll removes a folder in which Go has made modules read-only.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755) // what stays read-only is reported below
		}
		return nil
	})
	return os.RemoveAll(dir)
}

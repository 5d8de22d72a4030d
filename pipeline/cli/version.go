package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is what bench knows about its own source.
type version struct {
	Commit    string `json:"commit"` // empty: unknown
	Dirty     bool   `json:"dirty"`
	Toolchain string `json:"toolchain"`
	Platform  string `json:"platform"`
}

// stamp is the commit of a build whose sources are no git checkout, with "-dirty" behind it where they differ: nix/package.nix sets it
// through the linker.
var stamp string

func buildVersion() version {
	v := version{Toolchain: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Dirty = s.Value == "true"
		}
	}
	if v.Commit == "" {
		v.Commit, v.Dirty = strings.CutSuffix(stamp, "-dirty")
	}
	return v
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Say which source and toolchain made this bench", Example: "  bench version --json", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := buildVersion()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			commit := v.Commit
			if commit == "" {
				commit = "unknown"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "bench commit %s dirty %t, %s %s\n", commit, v.Dirty, v.Toolchain, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

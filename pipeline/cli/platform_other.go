//go:build !linux

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// holder is part of the local runtime, which exists on Linux only.
func holder([]string) (int, bool) { return 0, false }

// platformCommands stand for what only Linux can do and say what to use instead.
func platformCommands(console) []*cobra.Command {
	cmds := []*cobra.Command{newReplicate(nil, nil)}
	for _, name := range []string{"run", "doctor", "conform", "host", "drivers", "images", "self", "vm", "link", "clean", "release"} {
		cmds = append(cmds, &cobra.Command{
			Use: name, Short: "Linux only: use a Linux machine or a Linux virtual machine", DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return fail(ExitEnvironment, fmt.Errorf("%s: %s has no network namespaces; run it on Linux or in a Linux virtual machine "+
					"(plan, analyze, verify and keep work here)", name, runtime.GOOS))
			},
		})
	}
	return cmds
}

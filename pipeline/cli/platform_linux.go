package cli

import (
	"github.com/spf13/cobra"

	"transportbench/pipeline/sandbox"
)

// holder runs the hidden half of the local runtime: bench re-executed inside its private namespaces.
func holder(args []string) (int, bool) {
	if len(args) == 0 || args[0] != sandbox.HolderArg {
		return 0, false
	}
	return sandbox.HolderMain(args[1:]), true
}

// platformCommands need the kernel's namespaces.
func platformCommands(c console) []*cobra.Command {
	return []*cobra.Command{newRun(c.lock), newDoctor(), newConform(), newHost(), newDrivers(), newSelf()}
}

package cli

import (
	"github.com/spf13/cobra"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/vm"
)

// holder runs the hidden halves of the runtimes: bench re-executed inside its private namespaces, or as init of a virtual machine.
func holder(args []string) (int, bool) {
	rest, holder := sandbox.HolderArgs(args)
	switch {
	case holder:
		return sandbox.HolderMain(rest), true
	case len(args) > 0 && args[len(args)-1] == vm.GuestArg: // the kernel puts words that it does not know before it
		vm.GuestMain()
	}
	return 0, false
}

// platformCommands need the kernel's namespaces.
func platformCommands(c console) []*cobra.Command {
	return []*cobra.Command{newRun(c.lock), newReplicate(runReplica(c.lock)), newDoctor(), newConform(), newHost(), newDrivers(), newImages(), newSelf(), newVM(), newLink(), newClean(), newRelease()}
}

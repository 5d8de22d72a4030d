// Probe is the probe driver and the holder in one static program, for runtimes whose programs lie in images.
package main

import (
	"os"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

func main() {
	if rest, holder := sandbox.HolderArgs(os.Args[1:]); holder {
		os.Exit(sandbox.HolderMain(rest))
	}
	if len(os.Args) > 1 && os.Args[1] == runtimetest.ProbeArg {
		os.Exit(runtimetest.ProbeMain(os.Args[2:]))
	}
	os.Exit(2)
}

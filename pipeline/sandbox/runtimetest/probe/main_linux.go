// Probe is the probe driver and the holder in one static program, for runtimes whose programs lie in images.
package main

import (
	"os"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(2)
	}
	switch os.Args[1] {
	case sandbox.HolderArg:
		os.Exit(sandbox.HolderMain(os.Args[2:]))
	case runtimetest.ProbeArg:
		os.Exit(runtimetest.ProbeMain(os.Args[2:]))
	}
	os.Exit(2)
}

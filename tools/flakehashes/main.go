// Command flakehashes writes or checks flakehashes.json: the hash of the vendored modules that nix/package.nix builds with.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "flakehashes:", err)
		os.Exit(1)
	}
}

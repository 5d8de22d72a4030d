// Command bench measures reliable transports against each other.
package main

import (
	"os"

	"transportbench/pipeline/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

//go:build linux

// Command driver is the raw UDP echo for transportbench.
package main

import (
	"os"

	"transportbench/transports/udp"
)

func main() { os.Exit(udp.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

//go:build linux

// Command raknet is the driver of the RakNet columns.
package main

import (
	"os"

	"transportbench/transports/echo"
	"transportbench/transports/raknet/echoconn"
)

func main() {
	os.Exit(echo.Main(new(echoconn.Transport), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

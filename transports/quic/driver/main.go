// Command driver speaks QUIC through quic-go.
package main

import (
	"os"

	"transportbench/transports/echo"
	"transportbench/transports/quic"
)

func main() { os.Exit(echo.Main(quic.Transport{}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

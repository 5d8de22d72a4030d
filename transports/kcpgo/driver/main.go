// Command driver speaks KCP through kcp-go.
package main

import (
	"os"

	"transportbench/transports/echo"
	"transportbench/transports/kcpgo"
)

func main() { os.Exit(echo.Main(kcpgo.Transport{}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Command tcp is the driver of the tcp columns.
package main

import (
	"os"

	"transportbench/transports/echo"
	"transportbench/transports/tcp"
)

func main() {
	os.Exit(echo.Main(tcp.New(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

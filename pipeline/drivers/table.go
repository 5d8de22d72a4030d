// Package drivers knows which drivers there are, where their binaries lie, how they are built and what they say of themselves.
package drivers

import (
	"runtime"
	"slices"
)

// Launch is the file name of the program that starts every driver.
const Launch = "launch"

// source is how a driver is made. Adding a driver to bench is one line in table.
type source struct {
	name string // file name, and the `driver` of a column
	pkg  string // Go package inside the module
	c    string // C sources, relative to the module: built with gcc, over KCP's core or the system's libenet
}

func table() []source {
	return []source{
		{name: "tcp", pkg: "transports/tcp/driver"},
		{name: "raknet", pkg: "transports/raknet/driver"},
		{name: "kcp-c", c: "transports/kcp"},
		{name: "quic-go", pkg: "transports/quic/driver"},
		{name: "kcp-go", pkg: "transports/kcpgo/driver"},
		{name: "udp", pkg: "transports/udp/driver"},
		{name: Enet, c: enetSources},
	}
}

// Names lists the drivers of this repository in published order, extras last.
func Names() []string {
	var names []string
	for _, s := range table() {
		names = append(names, s.name)
	}
	return names
}

// Known reports whether name is a driver of this repository, built here or not.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Platform names the system that binaries are made for, as in pins.json and .build/.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

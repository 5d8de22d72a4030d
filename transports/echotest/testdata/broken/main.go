// Command broken is a driver that misbehaves in the way its file name says, "broken-<way>"; "broken-none" is an honest one.
package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transportbench/transports/echo"
	"transportbench/transports/tcp"
)

func main() {
	way := strings.TrimPrefix(filepath.Base(os.Args[0]), "broken-")
	os.Exit(drive(way, os.Args[1:]))
}

func drive(way string, args []string) int {
	if way == "overwrite" {
		for _, a := range args {
			if path, ok := strings.CutPrefix(a, "-samples-file="); ok {
				_ = os.Remove(path)
			}
		}
	}
	var transport echo.Transport = tcp.Transport{}
	if way == "unreliable" || way == "crash-on-junk" {
		transport = datagrams{crash: way == "crash-on-junk"}
	}
	code := echo.Main(transport, rewrite(way, args), os.Stdin, &output{way: way, w: os.Stdout}, os.Stderr)
	return ending(way, args, code)
}

// rewrite changes what the driver is asked to do.
func rewrite(way string, args []string) []string {
	change := map[string]func(string) string{
		"flags-ignored":   replace("-no-such-flag=1", "-workers=0"),
		"small-payload":   replace("-payload=16", "-payload=17"),
		"stops-at-eof":    replace("-stop-on-eof=false", "-stop-on-eof=true"),
		"ignores-eof":     replace("-stop-on-eof=true", "-stop-on-eof=false"),
		"deadline-missed": replace("-deadline=1s", "-deadline=1h"),
		"one-listener":    replace("-listeners=4", "-listeners=1"),
		"no-limit":        func(a string) string { return a },
	}[way]
	if change == nil {
		return args
	}
	out := slices.Clone(args)
	for i := range out {
		out[i] = change(out[i])
	}
	return out
}

func replace(from, to string) func(string) string {
	return func(a string) string {
		if a == from {
			return to
		}
		return a
	}
}

// ending changes how the driver ends.
func ending(way string, args []string, code int) int {
	switch {
	case way == "exit-code" && code == 127:
		return 1
	case way == "no-verification" && code == 3:
		return 0
	case way == "never-ends" && slices.Contains(args, "-role=server"):
		_, _ = io.Copy(io.Discard, endless{})
	}
	return code
}

// endless blocks its reader for ever.
type endless struct{}

func (endless) Read([]byte) (int, error) {
	for {
		<-make(chan struct{})
	}
}

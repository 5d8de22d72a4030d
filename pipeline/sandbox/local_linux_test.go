package sandbox

import (
	"context"
	"io"
	"strings"
	"testing"

	"transportbench/pipeline/matrix"
)

func cleanLink() EnvSpec {
	return EnvSpec{RunID: "t/x/r1", Port: 9000, Seed: strings.Repeat("00", 32),
		Link: matrix.LinkSpec{MTU: 1500, Limit: 100000, Backend: "auto", Topology: "lo"}}
}

func BenchmarkRunOverhead(b *testing.B) {
	l := newTestLocal(b)
	ctx := context.Background()
	for b.Loop() {
		e, err := l.Open(ctx, cleanLink())
		if err != nil {
			b.Fatal(err)
		}
		for range 2 {
			p, err := e.Start(ctx, ProcSpec{Name: "server", Path: "/bin/true"})
			if err != nil {
				b.Fatal(err)
			}
			go io.Copy(io.Discard, p.Stderr())
			io.Copy(io.Discard, p.Stdout())
			if err := p.Wait(); err != nil {
				b.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

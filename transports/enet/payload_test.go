package enet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The vectors of package wire, built by the shared file as this driver compiles it.
func TestPayloadGolden(t *testing.T) {
	mustLibrary(t)
	want, err := os.ReadFile("../wire/testdata/payload.golden")
	if err != nil {
		t.Fatal(err)
	}
	var questions strings.Builder
	for line := range strings.Lines(string(want)) {
		i := strings.LastIndexByte(line, ' ')
		questions.WriteString(line[:i] + "\n")
	}
	out := filepath.Join(workDir, "payload")
	compile(t, slices.Concat(warnings(), sanitized(), []string{"-o", out, "../kcp/testdata/payload.c", "../kcp/payload.c"}))
	cmd := exec.Command(out)
	cmd.Stdin = strings.NewReader(questions.String())
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

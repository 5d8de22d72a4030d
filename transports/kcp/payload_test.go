package kcp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The vectors that package wire is tested with prove that both languages build the same bytes.
func TestPayloadGolden(t *testing.T) {
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
	compile(t, append(warnings(), "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", out, "testdata/payload.c", "payload.c"))
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

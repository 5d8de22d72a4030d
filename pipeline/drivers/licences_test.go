package drivers

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLicencesNameEveryModule looks for modules of bench, of a driver and of the library, and for the terms of one.
func TestLicencesNameEveryModule(t *testing.T) {
	b, err := Licences(context.Background(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"this project: LICENSE", "Go: LICENSE", "github.com/quic-go/quic-go@", "github.com/spf13/cobra@", "github.com/xtaci/kcp-go/v5@", "Redistribution and use",
		"github.com/juju/ratelimit@v1.0.2: LICENSE", "GNU LESSER GENERAL PUBLIC LICENSE", "with github.com/juju/ratelimit", "work of the FreeType Team"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%q is not named", want)
		}
	}
}

func TestModuleWithoutLicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "license.go"), []byte("package x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := addTerms(&out, "m@v1", dir); err == nil || out.Len() > 0 {
		t.Errorf("error %v, text %q", err, out.String())
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("terms"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := addTerms(&out, "m@v1", dir); err != nil || !strings.Contains(out.String(), "m@v1: LICENSE.md\n\nterms\n") {
		t.Errorf("error %v, text %q", err, out.String())
	}
}

package drivers

import (
	"bytes"
	"context"
	"errors"
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
		"github.com/juju/ratelimit@v1.0.2: LICENSE", "GNU LESSER GENERAL PUBLIC LICENSE", "with github.com/juju/ratelimit", "work of the FreeType Team",
		"referred to above: gpl-3.txt", "referred to above: lgpl-2.1.txt", "github.com/golang/freetype@", ": licenses/ftl.txt", "internal/xxhash/LICENSE"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%q is not named", want)
		}
	}
}

// terms makes a module of files and returns what its terms are.
func terms(t *testing.T, files map[string]string, folders ...string) (string, error) {
	t.Helper()
	m := module{name: "example.org/m@v1", root: t.TempDir()}
	for name, text := range files {
		file := filepath.Join(m.root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range folders {
		m.use(filepath.Join(m.root, dir))
	}
	var out bytes.Buffer
	err := m.addTerms(&out)
	return out.String(), err
}

func TestTermsOfAModule(t *testing.T) {
	text, err := terms(t, map[string]string{"LICENSE.md": "terms", "licenses/ftl.txt": "more", "a/b/LICENSE": "taken over", "a/c/LICENSE": "not linked", "a/license.go": "package a"}, "a/b")
	for _, want := range []string{"m@v1: LICENSE.md\n\nterms\n", "m@v1: licenses/ftl.txt\n\nmore\n", "m@v1: a/b/LICENSE\n\ntaken over\n"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: %q lacks %q", err, text, want)
		}
	}
	if strings.Contains(text, "not linked") || strings.Contains(text, "package a") {
		t.Errorf("%q has more than is linked", text)
	}
}

func TestTermsThatAreRefused(t *testing.T) {
	if text, err := terms(t, map[string]string{"license.go": "package x"}); err == nil || text != "" {
		t.Errorf("no licence: %v, %q", err, text)
	}
	for _, text := range []string{"GNU GENERAL PUBLIC LICENSE", "GNU LESSER\nGENERAL PUBLIC LICENSE", "Mozilla Public License, version 2.0"} {
		if _, err := terms(t, map[string]string{"LICENSE": text}); err == nil || !strings.Contains(err.Error(), "asks for more than a copy") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

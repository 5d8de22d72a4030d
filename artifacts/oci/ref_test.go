package oci

import (
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	d := "sha256:" + strings.Repeat("0a", 32)
	for in, want := range map[string]Ref{
		"oci://ghcr.io/me/results:a.b-1": {Registry: "ghcr.io", Repository: "me/results", Tag: "a.b-1"},
		"oci://127.0.0.1:5000/r":         {Registry: "127.0.0.1:5000", Repository: "r"},
		"oci://ghcr.io/me/results@" + d:  {Registry: "ghcr.io", Repository: "me/results", Digest: d},
		"oci-layout:out":                 {Layout: "out"},
		"oci-layout:./a/b:first":         {Layout: "./a/b", Tag: "first"},
		`oci-layout:C:\out`:              {Layout: `C:\out`},
		`oci-layout:C:\out:first`:        {Layout: `C:\out`, Tag: "first"},
		"oci-layout:/tmp/x@" + d:         {Layout: "/tmp/x", Digest: d},
	} {
		got, err := ParseRef(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", in, got, err, want)
		}
		if again, err := ParseRef(got.String()); err != nil || again != got {
			t.Errorf("%s: written as %s, read as %+v %v", in, got, again, err)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"ghcr.io/me/results:a":           "want oci://",
		"https://ghcr.io/me/r:a":         "want oci://",
		"oci://ghcr.io":                  "want oci://",
		"oci://ghcr.io/me/r:latest":      "floating",
		"oci-layout:out:latest":          "floating",
		"oci://ghcr.io/UPPER:a":          "want oci://",
		"oci://ghcr.io/me/../r:a":        "want oci://",
		"oci://ghcr.io/me/r@sha256:00":   "sha256",
		"oci-layout:x@sha256:zz":         "64 hex",
		"oci-layout:":                    "no folder",
		"oci://u:hunter2@ghcr.io/me/r:a": "docker login",
		"oci://ghcr.io/me/r:a\x1b[2J":    "reference",
	} {
		_, err := ParseRef(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats a password", in)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"oci://h/r:t", "oci-layout:x:y", "oci-layout:x@sha256:", "oci://[::1]:5000/r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRef(s)
		if err != nil {
			return
		}
		if again, err := ParseRef(r.String()); err != nil || again != r {
			t.Errorf("%q: written as %q, read as %+v %v", s, r, again, err)
		}
	})
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:5000": true, "127.3.2.1": true, "localhost": true, "localhost:80": true, "[::1]:5000": true,
		"127.0.0.1.example.com": false, "localhost.example.com:80": false, "10.0.0.1:5000": false, "ghcr.io": false, "": false,
	} {
		if loopback(host) != want {
			t.Errorf("loopback(%q) = %t", host, !want)
		}
	}
}

package anchor_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitorus/timestamp"

	"transportbench/artifacts/anchor"
	"transportbench/artifacts/anchor/anchortest"
)

var hash = strings.Repeat("0123456789abcdef", 4)

func TestStampAndTrust(t *testing.T) {
	a := anchortest.New(t)
	at := time.Date(2026, 10, 12, 8, 0, 0, 0, time.UTC)
	a.Now = func() time.Time { return at }
	answer, token, err := anchor.Stamp(context.Background(), a.URL, hash)
	if err != nil {
		t.Fatal(err)
	}
	if !token.Time.Equal(at) || token.Authority != "CN=test authority" {
		t.Errorf("%s by %q", token.Time, token.Authority)
	}
	again, err := anchor.Read(answer, hash)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{a.CAFile: true, anchortest.New(t).CAFile: false} {
		roots, err := anchor.Roots(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Trusted(roots); (err == nil) != want {
			t.Errorf("trusted by %s: %v, want %t", file, err, want)
		}
	}
	if _, err := anchor.Read(answer, strings.Repeat("f", 64)); err == nil || !strings.Contains(err.Error(), "another hash") {
		t.Errorf("%v, want another hash", err)
	}
}

// OpenSSL, which is not ours, agrees.
func TestOpenSSLVerifies(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("unsupported: no openssl here; Debian's package openssl has it")
	}
	a := anchortest.New(t)
	answer, _, err := anchor.Stamp(context.Background(), a.URL, hash)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.tsr")
	if err := os.WriteFile(file, answer, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("openssl", "ts", "-reply", "-in", file, "-text").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Granted") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("openssl", "ts", "-verify", "-digest", hash, "-in", file, "-CAfile", a.CAFile).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestEveryChangedByteIsSeen(t *testing.T) {
	a := anchortest.New(t)
	answer, first, err := anchor.Stamp(context.Background(), a.URL, hash)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := anchor.Roots(a.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answer {
		b := append([]byte(nil), answer...)
		b[i] ^= 0x10
		if token, err := anchor.Read(b, hash); err == nil && token.Trusted(roots) == nil && !token.Time.Equal(first.Time) {
			t.Errorf("byte %d: another time is believed: %s", i, token.Time)
		}
	}
}

func TestLyingAuthorities(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*timestamp.Timestamp)
		usage  []x509.ExtKeyUsage
		want   string
	}{
		"another hash":                {change: func(s *timestamp.Timestamp) { s.HashedMessage = make([]byte, 32) }, want: "another hash"},
		"another nonce":               {change: func(s *timestamp.Timestamp) { s.Nonce = big.NewInt(1) }, want: "nonce"},
		"no nonce":                    {change: func(s *timestamp.Timestamp) { s.Nonce = nil }, want: "nonce"},
		"no certificate":              {change: func(s *timestamp.Timestamp) { s.AddTSACertificate = false }, want: "exactly one certificate"},
		"certificate of a web server": {usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, want: "time-stamping alone"},
		"certificate for all":         {usage: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageClientAuth}, want: "time-stamping alone"},
	} {
		a := anchortest.New(t, c.usage...)
		a.Change = c.change
		refused(t, what, a.URL, c.want)
	}
}

func refused(t *testing.T, what, address, want string) {
	t.Helper()
	_, _, err := anchor.Stamp(context.Background(), address, hash)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("%s: the error repeats a path: %v", what, err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for want, h := range map[string]http.HandlerFunc{
		"HTTP 503":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"text/html": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"more than": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/timestamp-reply")
			_, _ = w.Write(make([]byte, anchor.MaxBytes+1))
		},
		"answer: asn1:": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/timestamp-reply")
			fmt.Fprint(w, "hello")
		},
		"rejected": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/timestamp-reply")
			b, _ := timestamp.CreateErrorResponse(timestamp.Rejection, timestamp.BadRequest) // fixed input
			_, _ = w.Write(b)
		},
	} {
		s := httptest.NewServer(h)
		refused(t, want, s.URL+"/secret", want)
		s.Close()
		refused(t, "closed", s.URL+"/secret", "connection refused")
	}
	for _, address := range []string{"", "ftp://x/", "x", "http://me:secret@x/", "http:///y"} {
		refused(t, address, address, "--tsa")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0x30, 0x03, 0x02, 0x01, 0x00})
	a := anchortest.New(f)
	answer, _, err := anchor.Stamp(context.Background(), a.URL, hash)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer)
	f.Add(answer[:len(answer)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if token, err := anchor.Read(b, hash); err == nil && token.Time.IsZero() {
			t.Error("a token without a time")
		}
	})
}

package oci

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// serve starts a registry of one handler and returns a reference into it.
func serve(t *testing.T, h http.HandlerFunc) Ref {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Ref{Registry: strings.TrimPrefix(s.URL, "http://"), Repository: "r", Tag: "x"}
}

func pullFrom(t *testing.T, ref Ref) error {
	t.Helper()
	into := t.TempDir()
	_, err := impatient().Pull(context.Background(), ref, PullOptions{Into: into, Check: check})
	if left, errDir := os.ReadDir(into); errDir != nil || len(left) > 0 {
		t.Errorf("left on disk: %v %v", left, errDir)
	}
	return err
}

func wants(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%v, want one line of %q with %q", err, kind, text)
	}
}

func TestUnreachableRegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	host := l.Addr().String()
	must(t, l.Close())
	ref := Ref{Registry: host, Repository: "r", Tag: "x"}
	wants(t, pullFrom(t, ref), ErrUnreachable, "connection refused")
	_, err = impatient().Push(context.Background(), artifact(t, 16), ref, PushOptions{})
	wants(t, err, ErrUnreachable, "connection refused")
}

func TestRegistryStatuses(t *testing.T) {
	for status, c := range map[int]struct {
		kind error
		text string
	}{
		http.StatusUnauthorized:          {ErrDenied, "docker login 127.0.0.1"},
		http.StatusForbidden:             {ErrDenied, "docker login 127.0.0.1"},
		http.StatusInsufficientStorage:   {ErrNoSpace, "make room there"},
		http.StatusRequestEntityTooLarge: {ErrRegistry, "another registry"},
		http.StatusBadGateway:            {ErrRegistry, "HTTP 502"},
	} {
		ref := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := impatient().Push(context.Background(), artifact(t, 16), ref, PushOptions{})
		wants(t, err, c.kind, c.text)
	}
}

func TestRegistryWithoutSpace(t *testing.T) {
	ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"errors":[{"code":"UNKNOWN","message":"write /var: no space left on device \u001b[2J"}]}`)
	})
	_, err := impatient().Push(context.Background(), artifact(t, 16), ref, PushOptions{})
	wants(t, err, ErrNoSpace, "make room there")
}

// Credentials come from the Docker config, go to their own registry only and are in no message.
func TestCredentials(t *testing.T) {
	const secret = "hunter2"
	var asked, given int
	ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if user, password, ok := r.BasicAuth(); ok && user == "me" && password == secret {
			given++
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="`+secret+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	login := func(host string) {
		auth := base64.StdEncoding.EncodeToString([]byte("me:" + secret))
		must(t, os.WriteFile(filepath.Join(dir, "config.json"), fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, host, auth), 0o600))
	}
	login("other.example")
	wants(t, pullFrom(t, ref), ErrDenied, "docker login")
	if asked == 0 || given != 0 {
		t.Errorf("asked %d times, given another registry's credentials %d times", asked, given)
	}
	login(ref.Registry)
	err := pullFrom(t, ref)
	wants(t, err, ErrDenied, "docker login")
	if given == 0 || strings.Contains(err.Error(), secret) {
		t.Errorf("given %d times; %v", given, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"auths":`+secret), 0o600))
	if err := pullFrom(t, ref); err == nil || !strings.Contains(err.Error(), "docker config") || strings.Contains(err.Error(), secret) {
		t.Errorf("%v, want the docker config to be named", err)
	}
}

// manifestServer answers for one manifest; its blobs are left to blobs.
func manifestServer(t *testing.T, m string, size int64, blobs http.HandlerFunc) Ref {
	d := digest.FromString(m)
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			blobs(w, r)
			return
		}
		if !strings.Contains(r.URL.Path, "/manifests/") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", d.String())
		w.Header().Set("Content-Length", fmt.Sprint(size))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, m)
		}
	})
}

func TestOversizedManifestIsNotFetched(t *testing.T) {
	ref := manifestServer(t, "x", maxManifest+1, nil)
	wants(t, pullFrom(t, ref), ErrHostile, "at most")
}

func oneLayer(data string, size int64) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"artifactType":%q,"config":{"mediaType":"a/b","digest":%q,"size":2},"annotations":{"org.opencontainers.image.title":%q},`+
		`"layers":[{"mediaType":"text/plain","digest":%q,"size":%d,"annotations":{"org.opencontainers.image.title":"plan.tsv"}}]}`,
		ocispec.MediaTypeImageManifest, ArtifactType, digest.FromString("{}"), id, digest.FromString(data), size)
}

func TestHostileBlobs(t *testing.T) {
	for what, c := range map[string]struct {
		blobs http.HandlerFunc
		text  string
	}{
		"other bytes": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "evil") }, "mismatched digest"},
		"without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, "trailing data"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "go")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "EOF"},
		"elsewhere by plain HTTP": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusTemporaryRedirect)
		}, "plain HTTP"},
		"round and round": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
		}, "redirects more than"},
	} {
		t.Run(what, func(t *testing.T) {
			m := oneLayer("good", 4)
			err := pullFrom(t, manifestServer(t, m, int64(len(m)), c.blobs))
			if err == nil || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.text)
			}
		})
	}
}

// A list of referrers has an end.
func TestEndlessReferrers(t *testing.T) {
	m := oneLayer("good", 4)
	pages := 0
	ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/referrers/") {
			pages++
			w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
			w.Header().Set("Link", fmt.Sprintf(`<%s?page=%d>; rel="next"`, r.URL.Path, pages))
			fmt.Fprint(w, `{"schemaVersion":2,"manifests":[]}`)
			return
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromString(m).String())
		w.Header().Set("Content-Length", fmt.Sprint(len(m)))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, m)
		}
	})
	_, _, err := impatient().Referrers(context.Background(), ref)
	if pages > maxPages {
		t.Errorf("%d pages were fetched, at most %d; %v", pages, maxPages, err)
	}
}

func TestPlainHTTPIsForLoopbackOnly(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	repo, err := New().repository(Ref{Registry: "registry.example", Repository: "r"})
	must(t, err)
	if repo.PlainHTTP {
		t.Error("a foreign registry is spoken to in plain HTTP")
	}
	err = explain(Ref{Registry: "registry.example", Repository: "r"}, errors.New("http: server gave HTTP response to HTTPS client"))
	wants(t, err, ErrUnreachable, "loopback")
}

func TestExplainDisk(t *testing.T) {
	err := explain(Ref{Layout: "x"}, fmt.Errorf("write plan.tsv: %w", syscall.ENOSPC))
	wants(t, err, ErrNoSpace, "make room")
}

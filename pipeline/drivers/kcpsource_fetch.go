package drivers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"
)

const (
	reachTimeout = 3 * time.Second  // to learn that there is no route
	fetchTimeout = 60 * time.Second // once there is one
	maxArchive   = 16 << 20         // bytes; the repository is below 1 MiB
	maxCoreFile  = 1 << 20
)

// fetch returns the pinned core: from the cache, else with git, else from the archive.
func (p kcpPin) fetch(ctx context.Context) (kcpCore, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return kcpCore{}, p.unavailable("no cache folder: " + err.Error())
	}
	cache := filepath.Join(base, "transportbench", "kcp", p.Commit)
	if core, err := p.cached(ctx, cache); err == nil {
		return core, nil
	}
	if !reachable(ctx, p.URL) && !reachable(ctx, p.Archive) {
		return kcpCore{}, p.unavailable("no route to its host")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return kcpCore{}, fmt.Errorf("kcp cache: %w", err)
	}
	gitErr := p.fetchGit(ctx, cache)
	if gitErr == nil {
		return p.cached(ctx, cache)
	}
	if err := p.fetchArchive(ctx, cache); err != nil {
		return kcpCore{}, p.unavailable(fmt.Sprintf("%v; %v", gitErr, err))
	}
	return p.cached(ctx, cache)
}

func (p kcpPin) unavailable(why string) error {
	return &SourceError{fmt.Sprintf("kcp source at %s not available (%s); set KCP_SRC", p.Commit[:shortCommit], why)}
}

// cached reads the files from what the cache holds, checking it again: git by its object ids, the archive by its digest.
func (p kcpPin) cached(ctx context.Context, cache string) (kcpCore, error) {
	core := kcpCore{version: p.Commit, files: map[string][]byte{}}
	archive, err := os.ReadFile(filepath.Join(cache, "archive.tar.gz"))
	if err == nil && digestOf(archive) == p.SHA256 {
		core.files, err = unpack(archive)
		return core, err
	}
	repo := filepath.Join(cache, "git")
	for _, name := range coreFiles() {
		b, err := gitOutput(ctx, repo, "cat-file", "blob", p.Commit+":"+name)
		if err != nil {
			return kcpCore{}, err
		}
		core.files[name] = b
	}
	return core, nil
}

// fetchGit gets the one commit into a bare repository that is complete or not there.
func (p kcpPin) fetchGit(ctx context.Context, cache string) error {
	tmp, err := os.MkdirTemp(cache, "git-")
	if err != nil {
		return fmt.Errorf("kcp cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // scratch: what stays behind is in the way of nobody
	if _, err := gitOutput(ctx, tmp, "init", "-q", "--bare"); err != nil {
		return err
	}
	if _, err := gitOutput(ctx, tmp, "fetch", "-q", "--depth", "1", p.URL, p.Commit); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(cache, "git")); err != nil {
		return fmt.Errorf("kcp cache: %w", err)
	}
	return os.Rename(tmp, filepath.Join(cache, "git"))
}

// gitOutput runs git without any configuration of the user and without questions.
func gitOutput(ctx context.Context, repo string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.WaitDelay = time.Second
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w%s", args[0], err, firstLine(log.Bytes()))
	}
	return out, nil
}

func (p kcpPin) fetchArchive(ctx context.Context, cache string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Archive, nil)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("archive: %s", res.Status)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxArchive))
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if got := digestOf(b); got != p.SHA256 {
		return fmt.Errorf("archive: sha256 is %s, pinned is %s", got, p.SHA256)
	}
	tmp := filepath.Join(cache, "archive.tar.gz.new")
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return fmt.Errorf("kcp cache: %w", err)
	}
	return os.Rename(tmp, filepath.Join(cache, "archive.tar.gz"))
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// unpack takes the core's files from the top folder of an archive. Other entries are ignored; nothing is written anywhere.
func unpack(archive []byte) (map[string][]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
		for _, name := range coreFiles() {
			if h.Typeflag != tar.TypeReg || path.Base(h.Name) != name || path.Dir(path.Dir(h.Name)) != "." {
				continue
			}
			if files[name], err = io.ReadAll(io.LimitReader(r, maxCoreFile)); err != nil {
				return nil, fmt.Errorf("archive: %s: %w", name, err)
			}
		}
	}
	if len(files) != len(coreFiles()) {
		return nil, fmt.Errorf("archive: has %d of the %d files of the core", len(files), len(coreFiles()))
	}
	return files, nil
}

// reachable tells quickly whether a host can be talked to at all; a proxy of the environment counts as the host.
func reachable(ctx context.Context, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return err == nil && u.Scheme == "file"
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		u = proxy
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	d := net.Dialer{Timeout: reachTimeout}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

package oci

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"
)

// Forms of a reference.
const (
	schemeRegistry = "oci://"
	schemeLayout   = "oci-layout:"
)

// tagForm is the grammar of a tag, distribution-spec 1.1.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// Ref names an artifact, or the place for one, in a registry or in an OCI layout folder.
type Ref struct {
	Registry   string // host or host:port; empty: a layout folder
	Repository string
	Layout     string // folder; empty: a registry
	Tag        string // empty: none given
	Digest     string // sha256:<64 hex>; empty: none given
}

// IsRef says that a word names a place of artifacts and not a folder.
func IsRef(s string) bool {
	return strings.HasPrefix(s, schemeRegistry) || strings.HasPrefix(s, schemeLayout)
}

// ParseRef reads oci://HOST/REPOSITORY[:TAG|@DIGEST] or oci-layout:FOLDER[:TAG|@DIGEST].
func ParseRef(s string) (Ref, error) {
	var r Ref
	var err error
	rest, ok := strings.CutPrefix(s, schemeRegistry)
	if ok {
		if at := strings.IndexByte(rest, '@'); at >= 0 && at < strings.IndexByte(rest+"/", '/') {
			return r, errors.New("reference: names a user before the host; credentials come from the Docker config, see docker login")
		}
		r, err = parseRegistry(rest)
	} else if rest, ok = strings.CutPrefix(s, schemeLayout); ok {
		r, err = parseLayout(rest)
	} else {
		err = errors.New("want oci://HOST/REPOSITORY:TAG or oci-layout:FOLDER:TAG")
	}
	if err != nil {
		return Ref{}, fmt.Errorf("reference %q: %w", s, err)
	}
	if r.Tag == "latest" {
		return Ref{}, fmt.Errorf("reference %q: a floating tag names no artifact; use its id or a digest", s)
	}
	return r, nil
}

func parseRegistry(s string) (Ref, error) {
	p, err := registry.ParseReference(s)
	if err != nil {
		return Ref{}, fmt.Errorf("%w; want oci://HOST/REPOSITORY:TAG", err)
	}
	r := Ref{Registry: p.Registry, Repository: p.Repository}
	if strings.Contains(p.Reference, ":") {
		r.Digest, err = checkDigest(p.Reference)
	} else {
		r.Tag = p.Reference
	}
	return r, err
}

// parseLayout takes a tag after the last colon only where it cannot be part of a path: C:\out stays a folder.
func parseLayout(s string) (r Ref, err error) {
	r.Layout = s
	if dir, d, ok := strings.Cut(s, "@sha256:"); ok {
		r.Layout = dir
		r.Digest, err = checkDigest("sha256:" + d)
	} else if i := strings.LastIndexByte(s, ':'); i > 0 && tagForm.MatchString(s[i+1:]) {
		r.Layout, r.Tag = s[:i], s[i+1:]
	}
	if r.Layout == "" {
		return r, errors.New("names no folder")
	}
	return r, err
}

func checkDigest(s string) (string, error) {
	d, err := digest.Parse(s)
	if err != nil || d.Algorithm() != digest.SHA256 {
		return "", fmt.Errorf("digest %q: want sha256: and 64 hex digits", s)
	}
	return s, nil
}

// Place is the reference without tag and digest.
func (r Ref) Place() string {
	if r.Layout != "" {
		return schemeLayout + r.Layout
	}
	return schemeRegistry + r.Registry + "/" + r.Repository
}

// String is the reference as it is written; a digest wins over a tag.
func (r Ref) String() string {
	switch {
	case r.Digest != "":
		return r.Place() + "@" + r.Digest
	case r.Tag != "":
		return r.Place() + ":" + r.Tag
	}
	return r.Place()
}

// name is what a registry resolves: the digest, else the tag.
func (r Ref) name() string {
	if r.Digest != "" {
		return r.Digest
	}
	return r.Tag
}

// loopback reports whether a registry is on this machine: only there plain HTTP is spoken.
func loopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// Kinds of failure that callers tell apart with errors.Is.
var (
	ErrUnreachable = errors.New("cannot be reached")
	ErrDenied      = errors.New("access denied")
	ErrNotFound    = errors.New("not there")
	ErrTagTaken    = errors.New("tag names another artifact")
	ErrStranger    = errors.New("not its original")
	ErrHostile     = errors.New("not what was published") // wrong digest, size, name or type
	ErrNoSpace     = errors.New("no space left")
	ErrRegistry    = errors.New("registry failed")
)

const maxMessage = 300 // bytes of a foreign message that an error repeats

// explain turns an error of the network, the registry or the disk into one line about ref that says what to do.
func explain(ref Ref, err error) error {
	var response *errcode.ErrorResponse
	var checked *checkError
	switch {
	case errors.As(err, &checked):
		return checked.error
	case err == nil, errors.Is(err, context.Canceled), known(err):
		return err
	case errors.As(err, &response):
		return explainStatus(ref, response)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("%s: %w: it asks for credentials and the Docker config has none; run: docker login %s", ref, ErrDenied, ref.Registry)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: %w: %s; make room or choose another folder, then repeat the command", ref, ErrNoSpace, printable(err.Error()))
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("%s: %w; check repository, tag and digest", ref, ErrNotFound)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData), errors.Is(err, content.ErrInvalidDescriptorSize):
		return fmt.Errorf("%s: %w: %s; ask its publisher for the digest", ref, ErrHostile, printable(err.Error()))
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("%s: %w: it speaks plain HTTP, which is for loopback registries only; give it a certificate", ref, ErrUnreachable)
	case network(err):
		return fmt.Errorf("%s: %w: %s; check address and network, then repeat the command: what arrived is not sent again", ref, ErrUnreachable, printable(cause(err)))
	}
	return &told{fmt.Sprintf("%s: %s", ref, printable(err.Error())), err}
}

// checkError carries what the caller's own check of a copy said, which is not ours to rephrase.
type checkError struct{ error }

// told is an error with a text of our own.
type told struct {
	text string
	err  error
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.err }

// known reports whether an error already has its kind.
func known(err error) bool {
	for _, kind := range []error{ErrUnreachable, ErrDenied, ErrNotFound, ErrTagTaken, ErrStranger, ErrHostile, ErrNoSpace, ErrRegistry} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func explainStatus(ref Ref, r *errcode.ErrorResponse) error {
	host := ref.Registry
	switch r.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: %w (HTTP %d); run: docker login %s", ref, ErrDenied, r.StatusCode, host)
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w; check repository, tag and digest", ref, ErrNotFound)
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%s: %w (HTTP 413): it takes no blob of that size; use another registry", ref, ErrRegistry)
	case http.StatusInsufficientStorage:
		return fmt.Errorf("%s: %w in the registry (HTTP 507); make room there, then repeat the command", ref, ErrNoSpace)
	}
	words := http.StatusText(r.StatusCode)
	if len(r.Errors) > 0 {
		words = printable(r.Errors.Error())
	}
	if strings.Contains(words, "no space left") {
		return fmt.Errorf("%s: %w in the registry: %s; make room there, then repeat the command", ref, ErrNoSpace, words)
	}
	return fmt.Errorf("%s: %w (HTTP %d): %s; repeat the command: what arrived is not sent again", ref, ErrRegistry, r.StatusCode, words)
}

// network reports whether a connection could not be made or broke.
func network(err error) bool {
	var n net.Error
	return errors.As(err, &n) || broken(err)
}

// cause is the innermost message: the URLs around it, which may carry upload tokens, stay out of it.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			return op.Err.Error()
		}
		err = inner
	}
}

// printable keeps foreign text on one line and harmless to a terminal.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + " ..."
	}
	return s
}

// Package anchor lets a time-stamping authority say when a hash existed (RFC 3161), and checks what it said.
package anchor

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"time"

	"github.com/digitorus/timestamp"
)

const (
	// MaxBytes limits an answer, as received and as stored: real ones with their certificates have 2 to 8 KiB.
	MaxBytes = 64 << 10
	patience = 30 * time.Second // for one answer
	nonceLen = 64               // bits
)

// Media types of RFC 3161, section 3.4.
const (
	queryType = "application/timestamp-query"
	replyType = "application/timestamp-reply"
)

// Stamp asks the authority at address for a time-stamp of a SHA-256 hash in hex and returns its answer, checked, in DER. Plain HTTP is
// usual here and harmless: the answer is signed and bound to a nonce. Only the hash leaves this machine.
func Stamp(ctx context.Context, address, hash string) ([]byte, *Token, error) {
	host, err := Host(address)
	if err != nil {
		return nil, nil, err
	}
	answer, nonce, err := ask(ctx, address, hash)
	if err != nil {
		return nil, nil, fmt.Errorf("time-stamping authority %s: %w; nothing was stamped, choose another with --tsa", host, err)
	}
	t, err := Read(answer, hash)
	if err == nil && (t.stamp.Nonce == nil || t.stamp.Nonce.Cmp(nonce) != 0) {
		err = errors.New("answers another question: the nonce differs")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("time-stamping authority %s: %w; choose another with --tsa", host, err)
	}
	return answer, t, nil
}

// Host checks the address of an authority and returns the part of it that messages may show.
func Host(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("--tsa: want the http or https address of an RFC 3161 authority")
	}
	if u.User != nil {
		return "", errors.New("--tsa: the address may not hold a password")
	}
	return u.Host, nil
}

func ask(ctx context.Context, address, hash string) ([]byte, *big.Int, error) {
	imprint, err := hex.DecodeString(hash)
	if err != nil || len(imprint) != crypto.SHA256.Size() {
		return nil, nil, fmt.Errorf("hash %q: want 64 hex digits", hash)
	}
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), nonceLen))
	if err != nil {
		return nil, nil, err
	}
	query, err := (&timestamp.Request{HashAlgorithm: crypto.SHA256, HashedMessage: imprint, Certificates: true, Nonce: nonce}).Marshal()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(query))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", queryType)
	answer, err := send(req)
	return answer, nonce, err
}

func send(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultClient.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return nil, wrapped.Err // without the address, whose path may be a secret
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or refused
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != replyType {
		return nil, fmt.Errorf("answers with HTTP %d and type %.40q, not with %s", resp.StatusCode, kind, replyType)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, MaxBytes+1))
	if err == nil && len(b) > MaxBytes {
		err = fmt.Errorf("answers with more than %d bytes", MaxBytes)
	}
	return b, err
}

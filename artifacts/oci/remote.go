package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

const (
	stallAfter    = 60 * time.Second // a connection that moves nothing for so long is cut
	maxRedirects  = 5
	maxManifest   = 4 << 20 // bytes; what registries accept, distribution-spec 1.1, "Pushing Manifests"
	maxPages      = 64      // of a list of referrers
	maxReferrers  = 10_000
	maxTotalBytes = 8 << 30 // of one artifact
)

// Client reaches registries and layout folders. Its only credentials are those of the Docker config, which it never writes or prints.
type Client struct {
	policy retry.Policy // nil: the library's, five times within seconds
}

// New returns a client.
func New() *Client { return &Client{} }

// repository connects to nothing yet: the first request does.
func (c *Client) repository(ref Ref) (*remote.Repository, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("docker config: %s; repair it, or point DOCKER_CONFIG to another folder", printable(err.Error()))
	}
	repo, err := remote.NewRepository(ref.Registry + "/" + ref.Repository)
	if err != nil {
		return nil, err
	}
	repo.PlainHTTP = loopback(ref.Registry)
	repo.MaxMetadataBytes = maxManifest
	repo.ReferrerListMaxPages = maxPages
	repo.SkipReferrersGC = true // a list that was replaced stays: most registries let nobody delete
	repo.Client = &auth.Client{Client: c.http(repo.PlainHTTP), Cache: auth.NewCache(), Credential: credentials.Credential(store), ClientID: "transportbench"}
	return repo, nil
}

// http is a client that notices a peer that stalls and never follows a redirect from HTTPS to HTTP.
func (c *Client) http(plain bool) *http.Client {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialStalling, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: concurrency,
		IdleConnTimeout: stallAfter, TLSHandshakeTimeout: stallAfter, ResponseHeaderTimeout: 2 * stallAfter, MaxResponseHeaderBytes: 1 << 20,
	}
	r := retry.NewTransport(t)
	if c.policy != nil {
		r.Policy = func() retry.Policy { return c.policy }
	}
	return &http.Client{Transport: r, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("registry redirects more than %d times", maxRedirects)
		}
		if safe := req.URL.Scheme == "https" || plain && loopback(req.URL.Host); !safe {
			return errors.New("registry redirects to plain HTTP, which is for loopback registries only")
		}
		return nil
	}}
}

// broken reports whether a transfer ended before its time, so that another attempt may finish it.
func broken(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

func dialStalling(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: stallAfter / 2}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return stallConn{c}, nil
}

// stallConn gives every read and write its own deadline: a slow transfer lasts as long as it moves.
type stallConn struct{ net.Conn }

func (c stallConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(stallAfter)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c stallConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(stallAfter)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

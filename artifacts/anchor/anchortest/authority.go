// Package anchortest is a time-stamping authority on loopback for tests.
package anchortest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
)

// Authority signs whatever hash it is asked about.
type Authority struct {
	URL    string
	CAFile string // its root certificate in PEM

	Change func(*timestamp.Timestamp) // what it says instead of the truth; nil: the truth
	Usage  []x509.ExtKeyUsage         // of its certificate
	Now    func() time.Time

	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	t    testing.TB
}

// New starts an authority that ends with the test. Its clock says now.
func New(t testing.TB, usage ...x509.ExtKeyUsage) *Authority {
	t.Helper()
	if usage == nil {
		usage = []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}
	}
	a := &Authority{t: t, Usage: usage, Now: time.Now, CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	root, rootKey := a.certify("test root", nil, nil)
	a.cert, a.key = a.certify("test authority", root, rootKey)
	if err := os.WriteFile(a.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(s.Close)
	a.URL = s.URL
	return a
}

// certify makes a certificate: a root without a parent, else one for time-stamping.
func (a *Authority) certify(name string, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), BasicConstraintsValid: true,
	}
	if parent == nil {
		parent, parentKey = c, key
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		c.SerialNumber, c.KeyUsage = big.NewInt(2), x509.KeyUsageDigitalSignature
		c.ExtraExtensions = []pkix.Extension{a.usage()}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// usage is the extension extKeyUsage, critical as RFC 3161 wants it, which crypto/x509 does not write by itself.
func (a *Authority) usage() pkix.Extension {
	ids := map[x509.ExtKeyUsage]int{x509.ExtKeyUsageServerAuth: 1, x509.ExtKeyUsageClientAuth: 2, x509.ExtKeyUsageTimeStamping: 8}
	var oids []asn1.ObjectIdentifier
	for _, u := range a.Usage {
		oids = append(oids, asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, ids[u]})
	}
	value, err := asn1.Marshal(oids)
	if err != nil {
		a.t.Fatal(err)
	}
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: value}
}

func (a *Authority) answer(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	q, err := timestamp.ParseRequest(b)
	if err != nil {
		http.Error(w, "no query", http.StatusBadRequest)
		return
	}
	s := &timestamp.Timestamp{
		HashAlgorithm: q.HashAlgorithm, HashedMessage: q.HashedMessage, Nonce: q.Nonce, Time: a.Now(), Policy: asn1.ObjectIdentifier{1, 2, 3},
		SerialNumber: big.NewInt(7), AddTSACertificate: true,
	}
	if a.Change != nil {
		a.Change(s)
	}
	out, err := s.CreateResponseWithOpts(a.cert, a.key, crypto.SHA256)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	_, _ = w.Write(out) // the client reports what it does not get
}

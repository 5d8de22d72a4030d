package anchor

import (
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"
)

// Token is an authority's signed statement that a hash existed at a time.
type Token struct {
	Time      time.Time // UTC, with the authority's accuracy
	Authority string    // the name in its certificate; believe it only after Trusted
	stamp     *timestamp.Timestamp
	signed    *pkcs7.PKCS7
}

// Read decodes an answer in DER and checks that it is about the SHA-256 hash (hex), that it is signed by the certificate it carries, and
// that this certificate is one for time-stamping. Whether that certificate is worth anything is for Trusted to say.
func Read(answer []byte, hash string) (t *Token, err error) {
	if len(answer) > MaxBytes {
		return nil, fmt.Errorf("answer of %d bytes, at most %d", len(answer), MaxBytes)
	}
	defer func() { // the decoder of BER below is not ours and reads what anyone may have written
		if r := recover(); r != nil {
			t, err = nil, fmt.Errorf("answer cannot be decoded: %v", r)
		}
	}()
	stamp, err := timestamp.ParseResponse(answer)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if stamp.HashAlgorithm != crypto.SHA256 || hex.EncodeToString(stamp.HashedMessage) != hash {
		return nil, fmt.Errorf("is about another hash: %x, want %s", stamp.HashedMessage, hash)
	}
	signed, err := pkcs7.Parse(stamp.RawToken)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	signer := signed.GetOnlySigner()
	if signer == nil {
		return nil, errors.New("token: is not signed by exactly one certificate that it carries")
	}
	if !forTimeStamping(signer) {
		return nil, errors.New("token: its certificate is not one for time-stamping alone (RFC 3161, section 2.3)")
	}
	return &Token{Time: stamp.Time.UTC(), Authority: signer.Subject.String(), stamp: stamp, signed: signed}, nil
}

// extKeyUsage is the certificate extension of that name, RFC 5280, section 4.2.1.12.
var extKeyUsage = asn1.ObjectIdentifier{2, 5, 29, 37}

// forTimeStamping is the rule of RFC 3161, section 2.3: this one extended key usage, no other, and critical.
func forTimeStamping(c *x509.Certificate) bool {
	critical := slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(extKeyUsage) && e.Critical })
	return critical && len(c.ExtKeyUsage) == 1 && c.ExtKeyUsage[0] == x509.ExtKeyUsageTimeStamping && len(c.UnknownExtKeyUsage) == 0
}

// Trusted checks that the authority's certificate leads to one of roots and was valid at the time it names.
func (t *Token) Trusted(roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, c := range t.signed.Certificates {
		between.AddCert(c)
	}
	return t.signed.VerifyWithOpts(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: t.Time, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	})
}

// Roots reads the certificates of authorities, in PEM, from a file.
func Roots(file string) (*x509.CertPool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("authorities: %s holds no certificate in PEM", file)
	}
	return pool, nil
}

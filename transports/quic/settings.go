package quic

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/wire"
)

// alpn is the protocol name both sides offer.
const alpn = "echo-bench"

// Packet sizes in bytes of UDP payload, as published. The concurrent one equals RakNet's budget at its nominal MTU of 1,400.
const (
	packetSizeSingle     = 1400
	packetSizeConcurrent = 1372
)

// Bounds of the packet size in bytes. quic-go would silently move values outside to 1,200 (RFC 9000, section 14.1) or 1,452.
const (
	minPacketSize = 1200
	maxPacketSize = 1452
)

// packetSize chooses InitialPacketSize: -mtu, else the published value of the suite.
func packetSize(cfg wire.Config) (uint16, error) {
	switch {
	case cfg.MTU != 0 && (cfg.MTU < minPacketSize || cfg.MTU > maxPacketSize):
		return 0, &wire.UsageError{Flag: "mtu", Reason: fmt.Sprintf("%d B is no packet size of quic-go: want %d to %d", cfg.MTU, minPacketSize, maxPacketSize)}
	case cfg.MTU != 0:
		return uint16(cfg.MTU), nil
	case cfg.Suite == wire.SuiteConcurrent || cfg.Suite == wire.SuiteLoaded:
		return packetSizeConcurrent, nil
	default:
		return packetSizeSingle, nil
	}
}

// quicConfig is what both sides change of quic-go's defaults.
func quicConfig(packetSize uint16) *quicgo.Config {
	return &quicgo.Config{
		InitialPacketSize:       packetSize,
		DisablePathMTUDiscovery: true,
		MaxIdleTimeout:          120 * time.Second,
		HandshakeIdleTimeout:    10 * time.Second,
		MaxIncomingStreams:      1,
	}
}

// serverTLS makes a fresh self-signed certificate: ECDSA P-256, serial 1, valid for an hour in both directions.
func serverTLS() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("server key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(time.Hour),
		DNSNames:     []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("server certificate: %w", err)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{alpn},
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}, nil
}

// clientTLS skips verification: the certificate is new on every start and nobody vouches for it.
func clientTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{alpn}, ServerName: "localhost", InsecureSkipVerify: true}
}

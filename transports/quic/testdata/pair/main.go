// Command pair is an echo over quic-go that shares no code with the driver: pair server ADDR, or pair client ADDR MESSAGES. A record
// is a 4-byte length and 800 B: one write, a read of the length and one of the body. The client keeps 64 records under way,
// compares each echo and prints echoes a second. Options of quic-go are the driver's, so that only the programs differ.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

const (
	payload = 800
	window  = 64
	rounds  = 400 // sequential, before the clock starts, as many as the driver makes
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "server" {
		return serve(args[1])
	}
	if len(args) != 3 || args[0] != "client" {
		return errors.New("usage: pair server ADDR | pair client ADDR MESSAGES")
	}
	messages, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	return measure(args[1], messages)
}

func options() *quic.Config {
	return &quic.Config{
		InitialPacketSize: 1400, DisablePathMTUDiscovery: true, MaxIdleTimeout: 2 * time.Minute,
		HandshakeIdleTimeout: 10 * time.Second, MaxIncomingStreams: 1,
	}
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// serve echoes one connection after another until it is killed.
func serve(addr string) error {
	cert, err := certificate()
	if err != nil {
		return err
	}
	l, err := quic.ListenAddr(addr, &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"pair"}, Certificates: []tls.Certificate{cert}}, options())
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			return err
		}
		if s, err := c.AcceptStream(context.Background()); err == nil {
			echo(s)
		}
	}
}

func echo(s *quic.Stream) {
	record := make([]byte, 4+payload)
	for read(s, record) == nil {
		if _, err := s.Write(record); err != nil {
			return
		}
	}
}

func read(r io.Reader, record []byte) error {
	if _, err := io.ReadFull(r, record[:4]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(record)
	if n != payload {
		return fmt.Errorf("record of %d bytes", n)
	}
	_, err := io.ReadFull(r, record[4:])
	return err
}

func measure(addr string, messages int) error {
	trust := &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, NextProtos: []string{"pair"}} //nolint:gosec // its own server on loopback
	c, err := quic.DialAddr(context.Background(), addr, trust, options())
	if err != nil {
		return err
	}
	defer c.CloseWithError(0, "")
	s, err := c.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	record := append(binary.LittleEndian.AppendUint32(nil, payload), bytes.Repeat([]byte{0xfe}, payload)...)
	for range rounds {
		if err := burst(s, record, 1); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := burst(s, record, messages); err != nil {
		return err
	}
	fmt.Printf("%.0f\n", float64(messages)/time.Since(start).Seconds())
	return nil
}

// burst sends messages records, at most window of them without their echo.
func burst(s *quic.Stream, record []byte, messages int) error {
	permits, sent := make(chan struct{}, window), make(chan error, 1)
	go func() { // ends when all is sent or the stream is broken, which ends the process
		for range messages {
			permits <- struct{}{}
			if _, err := s.Write(record); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	echoed := make([]byte, len(record))
	for range messages {
		if err := read(s, echoed); err != nil {
			return err
		}
		if !bytes.Equal(echoed, record) {
			return errors.New("echo differs")
		}
		<-permits
	}
	return <-sent
}

package quic

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/wire"
)

// The benchmarks below compare this package with the most direct use of quic-go, in one process, 800 B and 64 under way:
//
//	go test -run '^$' -bench . -count 6 ./transports/quic
//
// BenchmarkDirect and BenchmarkConn move the same bytes; the difference is what the package costs.

const (
	benchPayload = 800
	benchWindow  = 64
)

// BenchmarkDirect knows neither our transport nor our framing code.
func BenchmarkDirect(b *testing.B) {
	tlsConfig, err := serverTLS()
	if err != nil {
		b.Fatal(err)
	}
	l, err := quicgo.ListenAddr("127.0.0.1:0", tlsConfig, quicConfig(packetSizeSingle))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go directServer(b.Context(), l)
	c, err := quicgo.DialAddr(b.Context(), l.Addr().String(), clientTLS(), quicConfig(packetSizeSingle))
	if err != nil {
		b.Fatal(err)
	}
	defer c.CloseWithError(0, "")
	stream, err := c.OpenStreamSync(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	record := binary.LittleEndian.AppendUint32(nil, benchPayload)
	record = append(record, bytes.Repeat([]byte{0xfe}, benchPayload)...)
	echoed := make([]byte, len(record))
	inFlight(b, func() error {
		_, err := stream.Write(record)
		return err
	}, func() error {
		return readDirect(stream, echoed)
	})
	if !bytes.Equal(echoed, record) {
		b.Error("the last echo differs")
	}
}

func readDirect(r io.Reader, record []byte) error {
	if _, err := io.ReadFull(r, record[:4]); err != nil {
		return err
	}
	_, err := io.ReadFull(r, record[4:4+binary.LittleEndian.Uint32(record)])
	return err
}

func directServer(ctx context.Context, l *quicgo.Listener) {
	c, err := l.Accept(ctx)
	if err != nil {
		return
	}
	stream, err := c.AcceptStream(ctx)
	if err != nil {
		return
	}
	record := make([]byte, 4+benchPayload)
	for readDirect(stream, record) == nil {
		if _, err := stream.Write(record); err != nil {
			return
		}
	}
}

// BenchmarkConn is the same through Transport, Listener and Conn.
func BenchmarkConn(b *testing.B) {
	tr := Transport{firstPort: 16_700}
	cfg := wire.Default()
	cfg.GSO = true
	cfg, _ = onLoopback(b, tr, cfg)
	c := dialled(b, tr, cfg, 0)
	defer c.Close()
	message := bytes.Repeat([]byte{0xfe}, benchPayload)
	echoed := make([]byte, benchPayload)
	inFlight(b, func() error { return c.Send(message) }, func() error {
		_, err := c.Recv(echoed)
		return err
	})
	if !bytes.Equal(echoed, message) {
		b.Error("the last echo differs")
	}
}

// inFlight sends b.N messages, at most benchWindow of them without their echo.
func inFlight(b *testing.B, send, receive func() error) {
	b.Helper()
	b.SetBytes(benchPayload)
	permits := make(chan struct{}, benchWindow)
	failed := make(chan error, 1)
	b.ResetTimer()
	go func() {
		for range b.N {
			permits <- struct{}{}
			if err := send(); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for range b.N {
		if err := receive(); err != nil {
			b.Fatal(err)
		}
		<-permits
	}
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
}

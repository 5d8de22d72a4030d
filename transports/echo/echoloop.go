package echo

import (
	"fmt"
	"io"
	"sync"

	"transportbench/transports/wire"
)

// logger serialises the few lines that a server writes to standard error.
type logger struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *logger) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}

// echoAll sends back whatever arrives until the connection ends and returns how many messages it sent back.
func (s *server) echoAll(conn Conn) (int64, error) {
	if s.fault != nil {
		return s.fault.echo(conn)
	}
	if s.cfg.API == wire.APIBatch {
		b, ok := conn.(BatchConn)
		if !ok {
			return 0, &wire.UnsupportedError{What: "api batch on this connection"}
		}
		return echoBatches(b, s.rooms)
	}
	return echoEach(conn, s.cfg.Payload)
}

func echoEach(conn Conn, payload int) (sent int64, err error) {
	buf := make([]byte, payload)
	for {
		n, err := conn.Recv(buf)
		if err != nil {
			return sent, err
		}
		if err := conn.Send(buf[:n]); err != nil {
			return sent, err
		}
		sent++
	}
}

// echoBatches receives up to batchSize ready messages and sends them back in one call.
func echoBatches(conn BatchConn, rooms *roomPool) (sent int64, err error) {
	err = rooms.receive(conn, func(msgs [][]byte) (bool, error) {
		if err := conn.SendBatch(msgs); err != nil {
			return false, err
		}
		sent += int64(len(msgs))
		return false, nil
	})
	return sent, err
}

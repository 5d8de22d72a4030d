package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errWriterEnded is what a record after the error record gets: it is late, so nothing is written.
var errWriterEnded = errors.New("record stream has ended with an error record")

// Writer writes records, each as one line by one Write call. It is safe for concurrent use: a watchdog may write the error
// record while the workload is still running, and whatever the workload writes afterwards is refused.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	ended bool
}

// NewWriter returns a Writer on w, which is usually a driver's standard output and must not buffer.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write fills in the type of r and writes it. The per-connection part of a Result goes first, in records of its own, because
// 2,048 connections do not fit one line. It fails when a line is longer than MaxLine, after an Error, or when w fails.
func (w *Writer) Write(r Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return errWriterEnded
	}
	if res, ok := r.(Result); ok {
		for first := 0; first < len(res.PerConn); first += connectionsChunk {
			part := res.PerConn[first:min(first+connectionsChunk, len(res.PerConn))]
			if err := w.line(Connections{First: first, PerConn: part}); err != nil {
				return err
			}
		}
		res.PerConn = nil
		r = res
	}
	_, w.ended = r.(Error)
	return w.line(r)
}

func (w *Writer) line(r Record) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b) // ends the line
	e.SetEscapeHTML(false)
	if err := e.Encode(r.typed()); err != nil {
		return fmt.Errorf("record %s cannot be encoded: %w", r.name(), err)
	}
	if b.Len() > MaxLine+1 {
		return fmt.Errorf("record %s of %d bytes is over the line limit of %d", r.name(), b.Len()-1, MaxLine)
	}
	if _, err := w.w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("record %s cannot be written: %w", r.name(), err)
	}
	return nil
}

package echo

import (
	"errors"
	"fmt"

	"transportbench/transports/wire"
)

// runBurst picks the loop of the suite. All of them start when the barrier is released and end with the last verified echo.
func (l *lane) runBurst() error {
	switch {
	case oneConnection(l.cfg.Suite):
		return l.duplex()
	case l.batch != nil:
		return l.windowBatch()
	default:
		return l.window()
	}
}

// stampSend notes the time just before message number i of the burst goes to the transport.
func (l *lane) stampSend(i int) {
	now := l.clock.now()
	l.sentNS += now
	if l.ring != nil {
		l.ring[i%len(l.ring)] = now
	}
}

// stampEcho notes the time just after the next echo of the burst was verified. Ordered delivery makes the ring slot its own.
func (l *lane) stampEcho() {
	now := l.clock.now()
	l.echoedNS += now
	l.endNS = now
	if l.ring != nil {
		l.loaded[l.burst] = now - l.ring[l.burst%len(l.ring)]
	}
	l.burst++
}

// window keeps up to -window messages in flight from one goroutine: after the first ones, one send per verified echo.
func (l *lane) window() error {
	sent := 0
	for ; sent < min(l.cfg.Window, l.cfg.Messages); sent++ {
		l.stampSend(sent)
		if err := l.send(); err != nil {
			return err
		}
	}
	for l.burst < l.cfg.Messages {
		if err := l.receive(); err != nil {
			return err
		}
		l.stampEcho()
		if sent == l.cfg.Messages {
			continue
		}
		l.stampSend(sent)
		if err := l.send(); err != nil {
			return err
		}
		sent++
	}
	return nil
}

// windowBatch does the same with the batch calls: as many new messages in one call as echoes were verified from one call. The new
// messages are the verified ones with new numbers, since every other byte of them is what it must be.
func (l *lane) windowBatch() error {
	sent := 0
	stamp := func() { l.stampSend(sent); sent++ }
	if err := l.firstBatch(min(batchSize, l.cfg.Window, l.cfg.Messages), stamp); err != nil {
		return err
	}
	err := l.rooms.receive(l.batch, func(msgs [][]byte) (bool, error) {
		if err := l.verifyBatch(msgs); err != nil {
			return false, err
		}
		if fresh := min(len(msgs), l.cfg.Messages-sent); fresh > 0 {
			if err := l.sendBatch(msgs[:fresh], stamp); err != nil {
				return false, err
			}
		}
		return l.burst == l.cfg.Messages, nil
	})
	var receive *receiveError
	if errors.As(err, &receive) {
		return l.broken("receive batch", l.next, receive.err)
	}
	return err
}

func (l *lane) firstBatch(n int, stamp func()) error {
	r := l.rooms.get()
	defer l.rooms.put(r)
	msgs := r.whole[:n]
	for _, b := range msgs {
		wire.BuildPayload(b, l.index, 0)
	}
	return l.sendBatch(msgs, stamp)
}

func (l *lane) verifyBatch(msgs [][]byte) error {
	for _, b := range msgs {
		if l.burst == l.cfg.Messages {
			return &wire.VerificationError{Connection: l.index, Message: l.next, Reason: fmt.Sprintf("surplus echo of %d bytes after the last one", len(b))}
		}
		if err := l.verify(b); err != nil {
			return err
		}
		l.stampEcho()
	}
	return nil
}

// duplex is the burst of the single suites: one goroutine sends, this one receives, a gate holds the window between them.
func (l *lane) duplex() error {
	g := newGate(l.cfg.Window)
	sender := make(chan error, 1)
	go func() { // ends when everything is sent, the gate is stopped or the connection is closed
		err := l.sendThrough(g)
		if err != nil {
			l.close() // the receiver would wait for echoes of what was never sent
		}
		sender <- err
	}()
	err := l.receiveThrough(g)
	if err != nil {
		l.close()
	}
	return firstCause(err, <-sender)
}

// firstCause prefers a verification failure: the error of the other side is then only the consequence of our own close.
func firstCause(receive, send error) error {
	if send == nil {
		return receive
	}
	if code, _ := wire.Failure(receive); code == wire.ExitVerification {
		return receive
	}
	return send
}

func (l *lane) sendThrough(g *gate) error {
	most := 1
	if l.batch != nil {
		most = batchSize
	}
	for sent := 0; sent < l.cfg.Messages; {
		n := g.take(int64(sent), min(most, l.cfg.Messages-sent))
		if n == 0 {
			return nil
		}
		var err error
		if l.batch != nil {
			err = l.sendBatch(l.out[:n], func() { l.sentNS += l.clock.now() })
		} else {
			l.sentNS += l.clock.now()
			err = l.send()
		}
		if err != nil {
			return err
		}
		sent += n
	}
	return nil
}

func (l *lane) receiveThrough(g *gate) error {
	defer g.stop()
	for l.burst < l.cfg.Messages {
		if err := l.receive(); err != nil {
			return err
		}
		l.stampEcho()
		g.free()
	}
	return nil
}

package echo

import "sync"

// batchSize is how many ready messages one call of the batch API takes at most (published: 16).
const batchSize = 16

// room is where one batch is received: whole holds the buffers at full length, view is what RecvBatch may reslice.
type room struct {
	whole, view [][]byte
}

// slab returns n buffers of size bytes in one allocation; each has exactly its own capacity.
func slab(n, size int) [][]byte {
	all := make([]byte, n*size)
	out := make([][]byte, n)
	for i := range out {
		out[i] = all[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}

// roomPool lends rooms. A connection that can wait without one (Waiter) borrows a room only while it has messages, so there are
// about as many rooms as running threads; any other connection keeps its room for its life.
type roomPool struct{ pool sync.Pool }

func newRoomPool(payload int) *roomPool {
	return &roomPool{pool: sync.Pool{New: func() any {
		return &room{whole: slab(batchSize, payload), view: make([][]byte, batchSize)}
	}}}
}

func (p *roomPool) get() *room { return p.pool.Get().(*room) }

func (p *roomPool) put(r *room) { p.pool.Put(r) }

// receive hands batch after batch to turn, which may reuse the buffers for what it sends, until turn says that it was the last one
// or something fails. Receive errors are returned as the transport made them, wrapped in a *receiveError.
func (p *roomPool) receive(conn BatchConn, turn func(msgs [][]byte) (last bool, err error)) error {
	waiter, lends := conn.(Waiter)
	var r *room
	if !lends {
		r = p.get()
		defer p.put(r)
	}
	for {
		if lends {
			if err := waiter.Wait(); err != nil {
				return &receiveError{err}
			}
			r = p.get()
		}
		last, err := r.turn(conn, turn)
		if lends {
			p.put(r)
		}
		if last || err != nil {
			return err
		}
	}
}

func (r *room) turn(conn BatchConn, turn func(msgs [][]byte) (bool, error)) (bool, error) {
	copy(r.view, r.whole)
	n, err := conn.RecvBatch(r.view)
	if err != nil {
		return false, &receiveError{err}
	}
	return turn(r.view[:n])
}

// receiveError tells an error of the transport from one that a turn returned.
type receiveError struct{ err error }

func (e *receiveError) Error() string { return e.err.Error() }

func (e *receiveError) Unwrap() error { return e.err }

package runner

import (
	"time"

	"transportbench/artifacts"
)

// EventType tells what an Event is about.
type EventType string

// Events of a session, in this order: start, then for each attempt run and done with probes and notes between, then end.
const (
	EventStart EventType = "start"
	EventProbe EventType = "probe"
	EventRun   EventType = "run"
	EventDone  EventType = "done"
	EventNote  EventType = "note"
	EventEnd   EventType = "end"
)

// Event is one step of a session; as JSON it is one line of --progress=json.
type Event struct {
	Type    EventType         `json:"type"`
	Time    time.Time         `json:"time"`              // UTC
	RunID   string            `json:"run_id,omitempty"`  // run, done, note
	Attempt int               `json:"attempt,omitempty"` // run, done
	Done    int               `json:"done"`              // runs of the plan that have an outcome
	Total   int               `json:"total"`             // runs of the plan
	Outcome artifacts.Outcome `json:"outcome,omitempty"` // done
	Reason  string            `json:"reason,omitempty"`  // done: why it is not ok
	WallNS  int64             `json:"wall_ns,omitempty"` // done
	ETANS   int64             `json:"eta_ns,omitempty"`  // what remains, learnt from finished runs; absent: not known yet
	Text    string            `json:"text,omitempty"`    // start: folder; probe: block; note: what
	Totals  *Totals           `json:"totals,omitempty"`  // end

	Record *artifacts.Record `json:"-"` // done: the whole line
}

// Progress shows a session to somebody. Its methods are called by one goroutine.
type Progress interface {
	Event(e Event)
	Close() error
}

// silent shows nothing.
type silent struct{}

func (silent) Event(Event)  {}
func (silent) Close() error { return nil }

// emit completes an event and shows it.
func (s *session) emit(e Event) {
	e.Time, e.Total = time.Now().UTC(), len(s.opt.Plan.Runs)
	if e.Type != EventStart {
		e.Done = len(s.last)
	}
	e.ETANS = s.eta.remaining().Nanoseconds()
	s.opt.Progress.Event(e)
}

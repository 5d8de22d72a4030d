package sandbox

import (
	"context"
	"encoding/json"
)

func (h *holder) host(full bool) reply { return reply{Host: json.RawMessage("{}")} }

// Host returns the capture of the machine and its counters.
func (e *localEnv) Host(ctx context.Context) (json.RawMessage, error) {
	rep, err := e.call(ctx, request{Op: opHost}, nil)
	return rep.Host, err
}

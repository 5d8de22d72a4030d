package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"transportbench/artifacts"
	"transportbench/pipeline/sandbox"
)

// networkGuard proves that the host's own network is as it was.
type networkGuard struct{ state sandbox.NetState }

func (g *networkGuard) before(read func() (sandbox.NetState, error)) (err error) {
	if read == nil {
		return nil
	}
	if g.state, err = read(); err != nil {
		return fmt.Errorf("host network: %w", err)
	}
	return nil
}

// after compares and notes the result. A change that an earlier session found stays on the record.
func (g *networkGuard) after(read func() (sandbox.NetState, error), out *artifacts.NetSnapshot) error {
	if read == nil {
		return nil
	}
	now, err := read()
	if err != nil {
		return fmt.Errorf("host network: %w", err)
	}
	equal := len(g.state.Diff(now)) == 0 && (out.Equal == nil || *out.Equal)
	*out = artifacts.NetSnapshot{Before: hashOf(g.state), After: hashOf(now), Equal: &equal}
	return nil
}

func hashOf(s sandbox.NetState) string {
	b, err := json.Marshal(s) // maps are written in order of their keys
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

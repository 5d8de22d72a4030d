package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestFlakeHashesFitModules fails when go.mod or go.sum moved and the hash that Nix builds with did not.
func TestFlakeHashesFitModules(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root(t), "flakehashes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var hashes struct{ Of map[string]string }
	if err := json.Unmarshal(b, &hashes); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if got := hex.EncodeToString(sum[:]); got != hashes.Of[name] {
			t.Errorf("%s has digest %s, flakehashes.json is made for %q: run `go tool mage flakeHashes`", name, got, hashes.Of[name])
		}
	}
}

package cli

import (
	"maps"
	"slices"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// An artifact of an unpinned core is planned again from its own manifest: the word says that there is one, its driver which.
func TestUnpinnedCoreIsRecalled(t *testing.T) {
	cores := map[string]string{"kcp-c": "node-kcp-1.0.13"}
	made := selection{matrix: "published", sel: matrix.Selection{Cores: cores, Only: []string{"variant=kcp-c@node-kcp-1.0.13"}}}
	plan, err := made.plan()
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Columns(); !slices.Equal(got, []string{"kcp-c@node-kcp-1.0.13"}) {
		t.Fatalf("columns %v: an unpinned core must not stand under the published name", got)
	}
	words, unpinned := withoutUnpinned(made.words())
	if !unpinned || slices.Contains(words, unpinnedWord) {
		t.Fatalf("words %v of the artifact, unpinned %t", made.words(), unpinned)
	}
	got := unpinnedCores(map[string]artifacts.DriverRef{"tcp": {}, "kcp-c@node-kcp-1.0.13": {}})
	if !maps.Equal(got, cores) {
		t.Fatalf("cores %v, want %v", got, cores)
	}
}

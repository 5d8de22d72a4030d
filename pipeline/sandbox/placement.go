package sandbox

import (
	"cmp"
	"fmt"
	"slices"

	"transportbench/pipeline/matrix"
)

// Labels of a placement. LabelReduced stands on every number that did not have the CPUs of the published benchmark.
const (
	LabelReference = "reference"
	LabelReduced   = "reduced"
)

const (
	sideCPUs       = 4 // CPUs of one side: server 0-3, client 4-7 in the published benchmark
	referenceCores = 2 * sideCPUs
)

// CPU is one logical CPU that drivers may use.
type CPU struct {
	ID      int // as the kernel numbers it
	Core    int // equal for the threads of one core of a package
	Package int
}

// Place maps a placement onto the allowed CPUs. server and client are nil where the placement pins nothing.
// Order: first threads of all cores by package and core, then second threads; the server takes the first k CPUs, the
// client the next k.
func Place(topology []CPU, placement matrix.Placement) (server, client []int, label string) {
	order, cores := byThreadRank(topology)
	label = LabelReference
	if cores < referenceCores {
		label = LabelReduced
	}
	if placement == matrix.PlacementUnpinned || len(order) == 0 {
		return nil, nil, label
	}
	if len(order) == 1 {
		only := []int{order[0].ID}
		return only, slices.Clone(only), label
	}
	k := min(sideCPUs, len(order)/2)
	if placement == matrix.PlacementOneEach {
		k = 1
	}
	if shareCore(order[:k], order[k:2*k]) {
		label = LabelReduced
	}
	return ids(order[:k]), ids(order[k : 2*k]), label
}

type core struct{ pkg, core int }

// byThreadRank sorts by (thread rank in core, package, core) and counts the cores. The rank counts allowed threads only: a
// core whose first thread belongs to others is a whole core for us.
func byThreadRank(topology []CPU) (order []CPU, cores int) {
	order = slices.Clone(topology)
	slices.SortFunc(order, func(a, b CPU) int { return cmp.Compare(a.ID, b.ID) })
	threads := map[core]int{}
	rank := make(map[int]int, len(order))
	for _, c := range order {
		key := core{c.Package, c.Core}
		rank[c.ID] = threads[key]
		threads[key]++
	}
	slices.SortStableFunc(order, func(a, b CPU) int {
		return cmp.Or(cmp.Compare(rank[a.ID], rank[b.ID]), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Core, b.Core))
	})
	return order, len(threads)
}

// shareCore reports whether the two sides would compete for one core.
func shareCore(server, client []CPU) bool {
	for _, s := range server {
		for _, c := range client {
			if s.Core == c.Core && s.Package == c.Package {
				return true
			}
		}
	}
	return false
}

func ids(cpus []CPU) []int {
	out := make([]int, len(cpus))
	for i, c := range cpus {
		out[i] = c.ID
	}
	slices.Sort(out)
	return out
}

// CheckAffinity compares the CPUs that a side was given with those that the kernel reports for who. A nil want was not
// pinned and matches anything.
func CheckAffinity(who string, want, got []int) error {
	if want == nil {
		return nil
	}
	w, g := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if slices.Equal(w, g) {
		return nil
	}
	return fmt.Errorf("affinity of %s: on CPUs %s, planned were %s", who, FormatCPUList(g), FormatCPUList(w))
}

// CheckThreads is CheckAffinity for every thread of a running driver.
func CheckThreads(who string, want []int, threads []Thread) error {
	for _, t := range threads {
		if err := CheckAffinity(fmt.Sprintf("%s thread %d (%s)", who, t.TID, t.Name), want, t.CPUs); err != nil {
			return err
		}
	}
	return nil
}

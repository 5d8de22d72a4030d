package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"transportbench/pipeline/matrix"
)

// cores makes n CPUs of threads threads a core, numbered as Linux does on x86: all first threads, then all second ones.
func cores(n, threads, packages int) []CPU {
	var cpus []CPU
	for thread := range threads {
		for c := range n {
			cpus = append(cpus, CPU{ID: thread*n + c, Core: c, Package: c * packages / n})
		}
	}
	return cpus
}

func only(cpus []CPU, ids ...int) []CPU {
	return slices.DeleteFunc(slices.Clone(cpus), func(c CPU) bool { return !slices.Contains(ids, c.ID) })
}

func TestPlace(t *testing.T) {
	adjacent := []CPU{{0, 0, 0}, {1, 0, 0}, {2, 2, 0}, {3, 2, 0}, {4, 4, 0}, {5, 4, 0}, {6, 6, 0}, {7, 6, 0}}
	for _, c := range []struct {
		name           string
		topology       []CPU
		placement      matrix.Placement
		server, client string
		label          string
	}{
		{"2 CPUs", cores(2, 1, 1), matrix.PlacementSplit, "0", "1", LabelReduced},
		{"8 cores", cores(8, 1, 1), matrix.PlacementSplit, "0-3", "4-7", LabelReference},
		{"8 cores sparse", cores(8, 1, 1), matrix.PlacementOneEach, "0", "1", LabelReference},
		{"8 cores unpinned", cores(8, 1, 1), matrix.PlacementUnpinned, "", "", LabelReference},
		{"2 CPUs unpinned", cores(2, 1, 1), matrix.PlacementUnpinned, "", "", LabelReduced},
		{"16 cores of 2 threads", cores(16, 2, 2), matrix.PlacementSplit, "0-3", "4-7", LabelReference},
		{"4 cores of 2 threads", cores(4, 2, 1), matrix.PlacementSplit, "0-3", "4-7", LabelReduced},
		{"4 cores of 2 threads sparse", cores(4, 2, 1), matrix.PlacementOneEach, "0", "1", LabelReduced},
		{"threads numbered side by side", adjacent, matrix.PlacementSplit, "0,2,4,6", "1,3,5,7", LabelReduced},
		{"one core of 2 threads", cores(1, 2, 1), matrix.PlacementSplit, "0", "1", LabelReduced},
		{"cpuset 2,4", only(cores(8, 1, 1), 2, 4), matrix.PlacementSplit, "2", "4", LabelReduced},
		{"cpuset of second threads", only(cores(16, 2, 1), 17, 19, 21, 23, 25, 27, 29, 31), matrix.PlacementSplit, "17,19,21,23", "25,27,29,31", LabelReference},
		{"5 CPUs", cores(5, 1, 1), matrix.PlacementSplit, "0-1", "2-3", LabelReduced},
		{"1 CPU", cores(1, 1, 1), matrix.PlacementSplit, "0", "0", LabelReduced},
		{"1 CPU sparse", only(cores(4, 1, 1), 3), matrix.PlacementOneEach, "3", "3", LabelReduced},
		{"2 packages, interleaved numbers", []CPU{{0, 0, 0}, {1, 1, 1}, {2, 2, 0}, {3, 3, 1}}, matrix.PlacementSplit, "0,2", "1,3", LabelReduced},
		{"nothing known", nil, matrix.PlacementSplit, "", "", LabelReduced},
	} {
		before := slices.Clone(c.topology)
		server, client, label := Place(c.topology, c.placement)
		if FormatCPUList(server) != c.server || FormatCPUList(client) != c.client || label != c.label {
			t.Errorf("%s: %v | %v %s, want %s | %s %s", c.name, server, client, label, c.server, c.client, c.label)
		}
		if c.server == "" && (server != nil || client != nil) {
			t.Errorf("%s: %v and %v, want nil: not pinned", c.name, server, client)
		}
		if !slices.Equal(before, c.topology) {
			t.Errorf("%s: the topology was changed", c.name)
		}
	}
}

func TestReadTopology(t *testing.T) {
	sys := fstest.MapFS{}
	add := func(id int, file, value string) {
		sys[fmt.Sprintf("devices/system/cpu/cpu%d/topology/%s", id, file)] = &fstest.MapFile{Data: []byte(value + "\n")}
	}
	add(2, "thread_siblings_list", "2,10")
	add(2, "core_id", "1")
	add(2, "physical_package_id", "1")
	add(10, "thread_siblings_list", "2,10")
	add(3, "core_id", "7")
	add(3, "physical_package_id", "-1")
	got := ReadTopology(sys, []int{2, 10, 3, 4})
	want := []CPU{{2, 2, 1}, {10, 2, 0}, {3, 7, 0}, {4, 4, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("topology %v, want %v", got, want)
	}
}

func TestCheckAffinity(t *testing.T) {
	for _, c := range []struct {
		want, got []int
		ok        bool
	}{
		{nil, []int{0, 1}, true}, {[]int{2, 4}, []int{4, 2}, true}, {[]int{2}, []int{2, 3}, false}, {[]int{0}, nil, false},
	} {
		err := CheckAffinity("server", c.want, c.got)
		if (err == nil) != c.ok {
			t.Errorf("want %v, got %v: %v", c.want, c.got, err)
		}
	}
	threads := []Thread{{TID: 5, Name: "a", CPUs: []int{1}}, {TID: 6, Name: "b", CPUs: []int{0, 1}}}
	if err := CheckThreads("client", []int{1}, threads); err == nil || !strings.Contains(err.Error(), "thread 6 (b)") {
		t.Errorf("error %v: want the thread that strayed", err)
	}
}

func TestCPUList(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"0", "0"}, {"0-3", "0-3"}, {"2,4", "2,4"}, {"3,0-1", "0-1,3"}, {"1,2,3", "1-3"}, {"", ""}, {"0-1\n", "0-1"},
	} {
		cpus, err := ParseCPUList(c.in)
		if err != nil || FormatCPUList(cpus) != c.out {
			t.Errorf("%q: %v, want %s (%v)", c.in, cpus, c.out, err)
		}
	}
	for _, bad := range []string{"a", "1-", "-1", "3-1", "0-99999", "8192", "1;2"} {
		if cpus, err := ParseCPUList(bad); err == nil {
			t.Errorf("%q: %v, want an error", bad, cpus)
		}
	}
}

func FuzzCPUList(f *testing.F) {
	for _, s := range []string{"0", "0-3,8", "2,4", "", "1-", "0-8191,0-8191"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUList(s)
		if err != nil {
			return
		}
		again, err := ParseCPUList(FormatCPUList(cpus))
		if err != nil || !slices.Equal(again, cpus) {
			t.Errorf("%q became %v, then %v (%v)", s, cpus, again, err)
		}
	})
}

func TestCheckNoFile(t *testing.T) {
	for _, c := range []struct {
		n    int
		hard uint64
		ok   bool
	}{{1024, 1088, true}, {1024, 1087, false}, {16320, 1 << 20, true}, {16321, 1 << 20, false}, {1, 64, false}} {
		err := CheckNoFile(c.n, c.hard)
		var missing *UnsupportedError
		if (err == nil) != c.ok || err != nil && !errors.As(err, &missing) {
			t.Errorf("%d connections, hard limit %d: %v", c.n, c.hard, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "open files limit ") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("error %q", err)
		}
	}
}

package matrix

import (
	"slices"
	"strings"
	"testing"
)

func TestSelections(t *testing.T) {
	cases := []struct {
		name string
		sel  Selection
		runs int
		kind string
	}{
		{"whole", Selection{}, 623, KindPublished},
		{"scale 1 is no scale", Selection{Scale: 1}, 623, KindPublished},
		{"one suite", Selection{Only: []string{"suite=sparse"}}, 35, KindCustom},
		{"values unite", Selection{Only: []string{"suite=single,loss=1|5"}}, 5 * 3 * 7, KindCustom},
		{"clauses unite", Selection{Only: []string{"suite=sparse", "delay=5"}}, 35 + 21, KindCustom},
		{"overlapping clauses count once", Selection{Only: []string{"suite=sparse", "suite=sparse,variant=tcp"}}, 35, KindCustom},
		{"column", Selection{Only: []string{"variant=tcp|kcp-c"}}, 178, KindCustom},
		{"different columns per profile", Selection{Only: []string{"suite=sparse,variant=tcp", "delay=5,variant=kcp-c"}}, 5 + 3, KindCustom},
		{"profile", Selection{Only: []string{"profile=single-64B-1c-l5-d0"}}, 21, KindCustom},
		{"named extra", Selection{Only: []string{"suite=sparse,variant=udp|tcp"}}, 10, KindCustom},
		{"extra", Selection{Extras: []string{"udp", "tcp-batch"}}, 89 * 9, KindCustom},
		{"all extras", Selection{Extras: []string{"all"}}, 89 * 17, KindCustom},
		{"bound column", Selection{Drivers: []string{"mine"}}, 89 * 8, KindCustom},
		{"bound known column", Selection{Drivers: []string{"kcp-c"}}, 623, KindCustom},
		{"bound known extra", Selection{Drivers: []string{"udp"}}, 89 * 8, KindCustom},
		{"repetitions", Selection{Repetitions: 1}, 29 * 7, KindCustom},
		{"smoke", Selection{Repetitions: 1, Scale: 0.01, MaxConnections: 32}, (8 + 1 + 4 + 4) * 7, KindSmoke},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := mustPlan(t, mustBuiltin(t, "published"), c.sel)
			if len(p.Runs) != c.runs || p.Kind != c.kind {
				t.Errorf("%d runs of kind %s, want %d of %s", len(p.Runs), p.Kind, c.runs, c.kind)
			}
			checkPlan(t, p)
		})
	}
}

func TestSelectionErrorsNameTheChoices(t *testing.T) {
	cases := []struct {
		sel  Selection
		want string
	}{
		{Selection{Only: []string{"suit=single"}}, "unknown key \"suit\": choose from suite, variant"},
		{Selection{Only: []string{"suite=double"}}, "no suite is \"double\": choose from single, sparse, concurrent, loaded"},
		{Selection{Only: []string{"loss=1|2"}}, "no loss is \"2\": choose from 0, 1, 5"},
		{Selection{Only: []string{"delay=10"}}, "choose from 0, 5"},
		{Selection{Only: []string{"variant=quic"}}, "no variant is \"quic\": choose from tcp, raknet-send"},
		{Selection{Only: []string{"suite=single,suite=sparse"}}, "key suite is given twice"},
		{Selection{Only: []string{"suite"}}, "not key=value"},
		{Selection{Only: []string{""}}, "not key=value"},
		{Selection{Only: []string{"suite=single,connections=64"}}, "leaves no run"},
		{Selection{Extras: []string{"sctp"}}, "extra column \"sctp\": choose from udp, udp-gso"},
		{Selection{Extras: []string{"tcp"}}, "extra column \"tcp\""},
		{Selection{Drivers: []string{"a/b"}}, "not a name"},
		{Selection{Drivers: []string{"a", "a"}}, "bound twice"},
		{Selection{Scale: -1}, "scale -1"},
		{Selection{Repetitions: -1}, "repetitions -1"},
		{Selection{MaxConnections: -1}, "max-connections -1"},
	}
	for _, c := range cases {
		_, err := NewPlan(mustBuiltin(t, "published"), c.sel)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: got %v, want %q", c.sel, err, c.want)
		}
	}
	if _, err := NewPlan(mustBuiltin(t, "gate"), Selection{}); err == nil || !strings.Contains(err.Error(), "--driver") {
		t.Errorf("gate without drivers: %v", err)
	}
}

func TestGateInterleavesBoundDrivers(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "gate"), Selection{Drivers: []string{"base", "head"}})
	checkPlan(t, p)
	if len(p.Runs) != 80 || p.Runs[len(p.Runs)-1].Block != 39 {
		t.Fatalf("%d runs, want 4 profiles x 10 blocks x 2 drivers", len(p.Runs))
	}
	var order []string
	for _, r := range p.Runs[:4] {
		order = append(order, r.Variant.Driver)
	}
	if want := []string{"base", "head", "head", "base"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestScaleRoundsUpAndKeepsFloors(t *testing.T) {
	cases := []struct {
		n     int
		f     float64
		floor int
		want  int
	}{
		{200000, 0.01, 128, 2000},
		{1001, 0.5, 10, 501},
		{1000, 0.001, 128, 128},
		{20, 0.01, 100, 20},
		{0, 0.5, 10, 0},
		{300, 2, 100, 600},
		{1 << 20, 1000, 1, 1 << 26},
	}
	for _, c := range cases {
		if got := scaleCount(c.n, c.f, c.floor, 1<<26); got != c.want {
			t.Errorf("scaleCount(%d, %v, %d) = %d, want %d", c.n, c.f, c.floor, got, c.want)
		}
	}
	p := mustPlan(t, mustBuiltin(t, "published"), Selection{Scale: 0.001, Only: []string{"profile=concurrent-64B-1024c-l1-d0"}}).Runs[0].Profile
	if p.Messages != 32 || p.Samples != 20 || p.Warmup != 0 || p.Connections != 1024 || p.Repetitions != 3 {
		t.Errorf("scaled to %+v", p)
	}
}

func FuzzOnly(f *testing.F) {
	for _, s := range []string{"suite=single|sparse,loss=1", "variant=udp", "=", "payload=800,payload=64", "delay=5|", "profile=a\nb"} {
		f.Add(s)
	}
	m, err := Builtin("quick")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, only string) {
		p, err := NewPlan(m, Selection{Only: []string{only}})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of two lines: %q", err)
			}
			return
		}
		checkPlan(t, p)
	})
}

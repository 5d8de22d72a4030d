package link

import "testing"

// losing are the fates of a link that only loses.
func losing(seed [32]byte, ppm int) *fates { return newFates(plan{seed: seed, lossPPM: ppm}) }

// drop is the fate of the next packet of a connection.
func (f *fates) drop(direction int, connection uint16) bool {
	_, lost := f.judge(direction, connection, 100, 0)
	return lost
}

// schedule is the fate of the first n packets of a connection.
func schedule(f *fates, direction int, connection uint16, n int) []bool {
	s := make([]bool, n)
	for i := range s {
		s[i] = f.drop(direction, connection)
	}
	return s
}

func differ(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return true
		}
	}
	return false
}

func TestDeciderReplays(t *testing.T) {
	const n = 10_000
	want := schedule(losing(testSeed(), 10_000), toServer, 20000, n)
	d := losing(testSeed(), 10_000)
	var got []bool
	for range n { // other traffic in between must not matter
		got = append(got, d.drop(toServer, 20000))
		d.drop(toServer, 20001)
		d.drop(toClient, 20000)
	}
	if differ(want, got) {
		t.Error("same seed, direction and connection: another schedule")
	}
}

func TestDeciderSeparates(t *testing.T) {
	const n = 10_000
	base := schedule(losing(testSeed(), 10_000), toServer, 20000, n)
	others := map[string][]bool{
		"direction":  schedule(losing(testSeed(), 10_000), toClient, 20000, n),
		"connection": schedule(losing(testSeed(), 10_000), toServer, 20001, n),
	}
	for _, i := range []int{0, 15, 16, 31} {
		seed := testSeed()
		seed[i] ^= 1
		others["seed byte "+string(rune('A'+i))] = schedule(losing(seed, 10_000), toServer, 20000, n)
	}
	for name, o := range others {
		if !differ(base, o) {
			t.Errorf("another %s gives the same schedule", name)
		}
	}
}

// TestDeciderShare asks the ledger about each of 1,000 connections and about all together.
func TestDeciderShare(t *testing.T) {
	d := losing(testSeed(), 50_000)
	all := Direction{Name: "all"}
	for connection := range uint16(1000) {
		one := Direction{Name: "one"}
		for _, dropped := range schedule(d, toServer, connection, 1000) {
			one.Seen++
			if dropped {
				one.Dropped++
			}
		}
		if v := Balance(one, 50_000); !v.OK {
			t.Errorf("connection %d: %+v", connection, v)
		}
		all.Seen, all.Dropped = all.Seen+one.Seen, all.Dropped+one.Dropped
	}
	if v := Balance(all, 50_000); !v.OK || len(v.Flags) > 0 {
		t.Errorf("%+v: %+v", all, v)
	}
}

func TestDeciderZeroLoss(t *testing.T) {
	for i, dropped := range schedule(losing(testSeed(), 0), toServer, 1, 100_000) {
		if dropped {
			t.Fatalf("packet %d dropped at 0 %%", i)
		}
	}
}

func testSeed() (seed [32]byte) {
	for i := range seed {
		seed[i] = byte(i * 7)
	}
	return seed
}

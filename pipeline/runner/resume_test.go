package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// exactlyOnce is what every resumed artifact must hold.
func exactlyOnce(t *testing.T, opt Options, totals Totals) *artifacts.Artifact {
	t.Helper()
	if totals.OK != totals.Planned || !totals.Sealed {
		t.Fatalf("%+v: %s", totals, reasons(t, opt.Dir))
	}
	rep, err := artifacts.Verify(opt.Dir)
	must(t, err)
	if len(rep.Findings) != 0 {
		t.Fatalf("verify: %v", rep.Findings)
	}
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	seen := map[string]int{}
	for _, r := range a.Records {
		seen[r.RunID]++
	}
	for _, r := range opt.Plan.Runs {
		if seen[r.ID] != 1 {
			t.Fatalf("%s has %d lines", r.ID, seen[r.ID])
		}
	}
	return a
}

// TestEveryTornJournalEndsWithEveryRunOnce cuts a finished journal at every byte, as a kill or a power loss would, and resumes.
func TestEveryTornJournalEndsWithEveryRunOnce(t *testing.T) {
	plan := testPlan(t, 1, nil)
	opt := options(t, &fakeRuntime{}, plan)
	_, err := Run(t.Context(), opt)
	must(t, err)
	must(t, os.Remove(filepath.Join(opt.Dir, artifacts.SumsFile)))
	must(t, os.Mkdir(filepath.Join(opt.Dir, ".tmp"), 0o755))
	journal, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.JournalFile))
	must(t, err)
	last := bytes.LastIndexByte(journal[:len(journal)-1], '\n') + 1
	var cuts []int
	for c := 0; c < last; c += 997 { // anywhere in the journal
		cuts = append(cuts, c)
	}
	for c := last; c < len(journal); c += step(len(journal) - last) { // densely in its last line
		cuts = append(cuts, c)
	}
	for _, cut := range cuts {
		torn := opt
		torn.Resume, torn.Dir = true, filepath.Join(tempDir(t), "torn")
		must(t, os.CopyFS(torn.Dir, os.DirFS(opt.Dir)))
		must(t, os.WriteFile(filepath.Join(torn.Dir, artifacts.JournalFile), journal[:cut], 0o644))
		totals, err := Run(t.Context(), torn)
		must(t, err)
		if a := exactlyOnce(t, torn, totals); len(a.Resumes) != 1 {
			t.Fatalf("cut %d: %d resume lines", cut, len(a.Resumes))
		}
		must(t, os.RemoveAll(torn.Dir))
	}
}

// step keeps the dense part to a few dozen cuts; package artifacts tries every byte.
func step(n int) int { return max(1, n/40) }

// TestKillAfterEveryRun interrupts each session after one more run until the plan is done.
func TestKillAfterEveryRun(t *testing.T) {
	opt := options(t, &fakeRuntime{}, testPlan(t, 2, nil))
	sessions := 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		begun := 0
		opt.Progress = watch(func(e Event) {
			if e.Type == EventRun {
				if begun++; begun == 2 {
					cancel() // in the middle of the second run of this session
				}
			}
		})
		totals, err := Run(ctx, opt)
		cancel()
		must(t, err)
		sessions++
		if !totals.Interrupted {
			a := exactlyOnce(t, opt, totals)
			if len(a.Resumes) != sessions-1 {
				t.Fatalf("%d sessions, %d resume lines", sessions, len(a.Resumes))
			}
			for i, r := range a.Resumes {
				if r.Interrupted != opt.Plan.Runs[i+1].ID || r.Remaining != len(opt.Plan.Runs)-i-1 {
					t.Fatalf("resume %d: interrupted %q, %d remain", i, r.Interrupted, r.Remaining)
				}
			}
			return
		}
		if totals.ExitCode() != ExitInterrupted || totals.Sealed {
			t.Fatalf("%+v", totals)
		}
		opt.Resume = true
	}
}

func TestInterruptEndsWithinTwoSeconds(t *testing.T) {
	for _, role := range []string{"server", "client"} {
		synctest.Test(t, func(t *testing.T) {
			rt := &fakeRuntime{script: only(role, func(p *fakeProc) int { p.hello(); <-p.killed; return -1 })}
			opt := options(t, rt, testPlan(t, 1, nil))
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Second, cancel)
			begun := time.Now()
			totals, err := Run(ctx, opt)
			must(t, err)
			if d := time.Since(begun) - 3*time.Second; !totals.Interrupted || totals.NotRun != 4 || d > 2*time.Second || rt.open != 0 {
				t.Fatalf("%s hangs: %+v %s after the interrupt, %d networks open", role, totals, d, rt.open)
			}
			a, err := artifacts.Load(opt.Dir)
			must(t, err)
			if len(a.Records) != 0 || a.Manifest.NotRun != 4 {
				t.Fatalf("%d records, %d not run", len(a.Records), a.Manifest.NotRun)
			}
		})
	}
}

func TestRetryFailedAddsAnAttempt(t *testing.T) {
	rt := &fakeRuntime{script: only("client", clientSaying(func(r *wire.Result) { r.Messages++ }))}
	opt := options(t, rt, testPlan(t, 1, nil))
	totals, err := Run(t.Context(), opt)
	must(t, err)
	if totals.Failed != 4 || totals.ExitCode() != ExitPartial || !totals.Sealed {
		t.Fatalf("%+v", totals)
	}
	rt.script = nil
	opt.Resume = true
	before, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.SumsFile))
	must(t, err)
	if totals, err = Run(t.Context(), opt); err != nil || totals.Failed != 4 {
		t.Fatalf("resume without --retry-failed: %+v %v", totals, err)
	}
	after, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.SumsFile))
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Fatal("a resume with nothing to do touched a sealed artifact")
	}
	opt.RetryFailed = true
	totals, err = Run(t.Context(), opt)
	must(t, err)
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	if totals.OK != 4 || len(a.Records) != 8 || a.Last()[3].Attempt != 2 || !a.Resumes[0].RetryFailed || a.Resumes[0].Unsealed == "" {
		t.Fatalf("%+v, %d records, %+v", totals, len(a.Records), a.Resumes)
	}
}

func TestResumeRefusesWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"plan":   {func(o *Options) { o.Plan.Hash = "other" }, "plan hash was plan-hash, is other"},
		"host":   {func(o *Options) { o.Manifest.HostFingerprint = "host-2" }, "host fingerprint was host-1, is host-2"},
		"driver": {func(o *Options) { o.Drivers[1].SHA256 = "cc" }, "driver other was bb, is cc"},
		"launch": {func(o *Options) { o.Manifest.Launch = "dd" }, "launch digest was none, is dd"},
	} {
		t.Run(name, func(t *testing.T) {
			opt := options(t, &fakeRuntime{}, testPlan(t, 1, nil))
			ctx, cancel := context.WithCancel(t.Context())
			opt.Progress = watch(func(e Event) {
				if e.Type == EventDone {
					cancel()
				}
			})
			_, err := Run(ctx, opt)
			must(t, err)
			before, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.JournalFile))
			must(t, err)
			opt.Resume = true
			c.change(&opt)
			_, err = Run(t.Context(), opt)
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			after, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.JournalFile))
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Fatal("a refused resume changed the journal")
			}
		})
	}
}

func TestExistingFolderIsNotOverwritten(t *testing.T) {
	opt := options(t, &fakeRuntime{}, testPlan(t, 1, nil))
	_, err := Run(t.Context(), opt)
	must(t, err)
	if _, err := Run(t.Context(), opt); !errors.Is(err, artifacts.ErrExists) {
		t.Fatalf("%v, want ErrExists", err)
	}
}

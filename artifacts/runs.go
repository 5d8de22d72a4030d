package artifacts

import "fmt"

// checkRuns holds what every journal promises: known ids, attempts counted from 1 without gaps, one known outcome, file names of its own.
func (a *Artifact) checkRuns() error {
	planned := make(map[string]int, len(a.Plan))
	for _, p := range a.Plan {
		planned[p.RunID] = p.Index
	}
	attempts := map[string]int{}
	for i, r := range a.Records {
		index, ok := planned[r.RunID]
		switch {
		case !ok:
			return atf(JournalFile, 0, ErrMalf, "record %d: run %q is not in the plan", i+1, r.RunID)
		case index != r.Index:
			return atf(JournalFile, 0, ErrMalf, "run %s: index %d, the plan has %d", r.RunID, r.Index, index)
		case r.Attempt != attempts[r.RunID]+1:
			return atf(JournalFile, 0, ErrMalf, "run %s: attempt %d follows %d", r.RunID, r.Attempt, attempts[r.RunID])
		case r.Outcome != OutcomeOK && r.Outcome != OutcomeFailed && r.Outcome != OutcomeUnsupported:
			return atf(JournalFile, 0, ErrMalf, "run %s: unknown outcome %q", r.RunID, r.Outcome)
		case r.Outcome != OutcomeOK && r.Reason == "":
			return atf(JournalFile, 0, ErrMalf, "run %s: %s without a reason", r.RunID, r.Outcome)
		}
		if err := checkFiles(r); err != nil {
			return at(JournalFile, 0, fmt.Errorf("run %s: %w", r.RunID, err))
		}
		attempts[r.RunID]++
	}
	return nil
}

func checkFiles(r Record) error {
	for _, n := range r.Files() {
		if err := ValidName(n); err != nil {
			return err
		}
		if !heavy(n) {
			return fmt.Errorf("%w: %q is not in samples/ or logs/", ErrName, n)
		}
	}
	return nil
}

// Files names the samples and logs that belong to an attempt.
func (r *Record) Files() []string {
	var names []string
	for _, n := range []string{r.Server.Log, r.Client.Log} {
		if n != "" {
			names = append(names, n)
		}
	}
	for _, s := range r.Series {
		if s.File != "" {
			names = append(names, s.File)
		}
	}
	return names
}

// Last returns the last attempt of every run that has one, in plan order.
func (a *Artifact) Last() []Record {
	last := map[string]int{}
	for i, r := range a.Records {
		last[r.RunID] = i
	}
	out := make([]Record, 0, len(last))
	for _, p := range a.Plan {
		if i, ok := last[p.RunID]; ok {
			out = append(out, a.Records[i])
		}
	}
	return out
}

// Count tallies the last attempts into the manifest's numbers.
func (a *Artifact) Count() (ok, failed, unsupported, notRun int) {
	last := a.Last()
	for _, r := range last {
		switch r.Outcome {
		case OutcomeOK:
			ok++
		case OutcomeFailed:
			failed++
		case OutcomeUnsupported:
			unsupported++
		}
	}
	return ok, failed, unsupported, len(a.Plan) - len(last)
}

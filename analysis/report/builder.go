package report

import (
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// builder holds the input with the indexes that every part of the page needs.
type builder struct {
	in       Input
	last     map[string]*artifacts.Record        // the attempt that counts, by run id
	attempts map[matrix.Cell][]*artifacts.Record // in plan order, then by attempt
	planned  map[matrix.Cell][]string            // run ids
}

func newBuilder(in Input) *builder {
	b := &builder{in: in, last: map[string]*artifacts.Record{}, attempts: map[matrix.Cell][]*artifacts.Record{}, planned: map[matrix.Cell][]string{}}
	byRun := map[string][]*artifacts.Record{}
	for i := range in.Artifact.Records {
		r := &in.Artifact.Records[i]
		byRun[r.RunID] = append(byRun[r.RunID], r)
		b.last[r.RunID] = r
	}
	for _, p := range in.Artifact.Plan {
		c, ok := cellOf(p.RunID)
		if !ok {
			continue
		}
		b.planned[c] = append(b.planned[c], p.RunID)
		b.attempts[c] = append(b.attempts[c], byRun[p.RunID]...)
	}
	return b
}

package summary

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// sampled is one samples file and the record that names it.
type sampled struct {
	record *artifacts.Record
	series artifacts.Series
	audit  *Audit // of this file alone
	absent bool
}

// AuditSamples reads the raw RTTs of every successful attempt that are present, one file a processor at a time, and derives the series of the
// journal again.
func AuditSamples(into *Audit, art *artifacts.Artifact) {
	var files []sampled
	for i := range art.Records {
		if art.Records[i].Outcome != artifacts.OutcomeOK {
			continue // whatever a failed run left is kept, and is no measurement
		}
		for _, s := range art.Records[i].Series {
			if s.File != "" {
				files = append(files, sampled{record: &art.Records[i], series: s, audit: NewAudit()})
			}
		}
	}
	var wg sync.WaitGroup // ends when every file has been read
	workers := min(runtime.GOMAXPROCS(0), len(files))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(files); i += workers {
				files[i].read(art)
			}
		})
	}
	wg.Wait()
	absent := 0
	for _, f := range files {
		into.join(f.audit)
		absent += one(f.absent)
	}
	if absent > 0 || len(files) == 0 {
		into.Skip("samples", fmt.Sprintf("%d of %d samples files are absent; their hashes are known", absent, len(files)))
	}
}

func (f *sampled) read(art *artifacts.Artifact) {
	raw, err := artifacts.ReadSamples(art.Dir, f.series.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.absent = true
	case err != nil:
		f.audit.Check(false, "samples", f.series.File, "a readable samples file", err.Error())
	default:
		auditSamples(f.audit, art, f.record, f.series, raw)
	}
}

func auditSamples(into *Audit, art *artifacts.Artifact, r *artifacts.Record, s artifacts.Series, raw artifacts.Samples) {
	sum := sha256.New()
	kind := map[wire.SampleKind]string{wire.SamplesSparse: "sparse", wire.SamplesLoaded: "loaded"}[raw.Kind]
	w := bufio.NewWriterSize(sum, 64<<10) // 8 B a call would cost more than the hash
	err := wire.EncodeSamples(w, raw.Kind, raw.Connections, raw.NS)
	if err = errors.Join(err, w.Flush()); err != nil {
		into.Check(false, "samples-hash", s.File, s.SHA256, err.Error())
	}
	into.Check(fmt.Sprintf("%x", sum.Sum(nil)) == s.SHA256, "samples-hash", s.File, s.SHA256, fmt.Sprintf("%x", sum.Sum(nil)))
	d := art.Manifest.Drivers[r.Variant.Driver].Describe
	lossy := r.Variant.Unreliable || d != nil && !d.Reliable // then connections have unequal numbers, and the file calls them one
	into.Check(kind == s.Kind && (lossy || raw.Connections == r.Profile.Connections), "samples-kind", s.File,
		fmt.Sprintf("%s of %d connections", s.Kind, r.Profile.Connections), fmt.Sprintf("%s of %d", kind, raw.Connections))
	if kind == "loaded" && r.Outcome == artifacts.OutcomeOK && !lossy {
		auditSums(into, r, s.File, raw)
	}
	if want := fmt.Sprint(again(s, raw.NS)); want != seriesText(s) {
		into.Check(false, "samples-series", s.File, want, seriesText(s))
	} else {
		into.Check(true, "samples-series", s.File, "", "")
	}
}

// auditSums: the RTT sum of every connection is that of its samples.
func auditSums(into *Audit, r *artifacts.Record, file string, raw artifacts.Samples) {
	if r.Client.Result == nil || len(r.Client.Result.PerConn) == 0 || len(raw.NS)%len(r.Client.Result.PerConn) != 0 {
		into.Check(false, "samples-sum", file, "as many RTTs of every connection", fmt.Sprintf("%d RTTs", len(raw.NS)))
		return
	}
	each := len(raw.NS) / len(r.Client.Result.PerConn)
	for i, c := range r.Client.Result.PerConn {
		var sum int64
		for _, v := range raw.NS[i*each : (i+1)*each] {
			sum += v
		}
		if sum != c.RTTSumNS {
			into.Check(false, "samples-sum", fmt.Sprintf("%s connection %d", file, i), fmt.Sprintf("%d ns in the journal", c.RTTSumNS), fmt.Sprintf("%d ns", sum))
			return
		}
	}
	into.Check(true, "samples-sum", file, "", "")
}

// again derives a series from its RTTs in order of completion; it sorts them.
func again(s artifacts.Series, ns []int64) string {
	s.N = len(ns)
	if s.N == 0 {
		return seriesText(s)
	}
	s.Lag1, s.MeanNS = stats.Lag1(ns), stats.Mean(ns)
	slices.Sort(ns)
	s.MinNS, s.MaxNS = ns[0], ns[len(ns)-1]
	s.Quantiles, s.Dip = stats.Quantiles(ns, stats.FixedP()), stats.Dip(ns)
	return seriesText(s)
}

// seriesText is a series as it is compared: floats to the digits that every processor agrees on, quantiles as one hash beside the three
// that people read.
func seriesText(s artifacts.Series) string {
	var b bytes.Buffer
	for _, q := range s.Quantiles {
		fmt.Fprintf(&b, "%d,", q)
	}
	return fmt.Sprintf("n %d, min %d, max %d, mean %s, lag1 %s, dip %s, p50 p95 p99 %v, 201 quantiles %.8x", s.N, s.MinNS, s.MaxNS,
		Format(s.MeanNS), Format(s.Lag1), Format(s.Dip), printed(s), sha256.Sum256(b.Bytes()))
}

package cli

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func newVerify() *cobra.Command {
	var show findingFlags
	var tsaCA string
	cmd := &cobra.Command{
		Use:   "verify ARTIFACT",
		Short: "Check an artifact's hashes, chain and plan, derive everything again and audit every run",
		Long: "Trusts nothing that the artifact says of itself: recomputes every hash of SHA256SUMS and the chain of runs.ndjson, makes the plan " +
			"again, derives every derived file again and compares bytes, derives the series of the journal again from the raw samples, and applies " +
			"every rule of bench audit. Raw samples and logs may be absent; their hashes are known.",
		Example: "  bench verify artifacts/quick\n  bench verify --json results/published-20261130T120000Z-1a2b3c4",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := artifactFolder(args[0]); err != nil {
				return err
			}
			roots, err := authorities(tsaCA)
			if err != nil {
				return err
			}
			v, err := verifyTrusting(args[0], roots)
			if err != nil {
				return err
			}
			return show.print(cmd.OutOrStdout(), v)
		},
	}
	show.add(cmd.Flags())
	addTSACA(cmd.Flags(), &tsaCA)
	return cmd
}

// verdict is the machine-readable answer of verify and audit.
type verdict struct {
	Artifact string          `json:"artifact"`
	Intact   bool            `json:"intact"`  // no finding above a note
	Files    int             `json:"checked"` // files hashed
	Absent   int             `json:"absent"`  // samples and logs that are not here but whose hash is known
	Spread   *summary.Spread `json:"spread,omitempty"`
	*summary.Audit
}

// verify runs every check on the artifact in dir and trusts no time-stamping authority.
func verify(dir string) (verdict, error) { return verifyTrusting(dir, nil) }

// verifyTrusting runs every check on the artifact in dir. The error says that dir cannot be read at all; what is wrong inside is a finding.
func verifyTrusting(dir string, roots *x509.CertPool) (verdict, error) {
	v := verdict{Artifact: dir, Audit: summary.NewAudit()}
	rep, err := artifacts.Verify(dir)
	if err != nil {
		return v, fail(ExitUsage, err)
	}
	v.Files, v.Absent = rep.Checked, len(rep.Absent)
	for _, f := range rep.Findings {
		integrity(v.Audit, f)
	}
	v.Checked["seal"] += rep.Checked
	a, err := artifacts.Load(dir)
	if err != nil {
		v.Skip("audit", "the journal cannot be read: "+oneLine(err.Error()))
		return v.close(), nil
	}
	if err := summary.AuditPlan(v.Audit, a); err != nil {
		return v, fail(ExitUsage, err)
	}
	auditReplan(v.Audit, a)
	auditAnchors(v.Audit, a, roots)
	summary.AuditSamples(v.Audit, a)
	summary.AuditRuns(v.Audit, a)
	if err := auditDerived(v.Audit, a); err != nil {
		return v, fail(ExitUsage, err)
	}
	return v.close(), nil
}

func (v verdict) close() verdict {
	v.Sort()
	v.Intact = v.Failures() == 0
	return v
}

// integrity files a defect that package artifacts found under the rule that it broke.
func integrity(into *summary.Audit, err error) {
	rule := "seal"
	for _, r := range []struct {
		kind error
		name string
	}{{artifacts.ErrChain, "chain"}, {artifacts.ErrTampered, "seal"}, {artifacts.ErrMalf, "format"}, {artifacts.ErrFormat, "format"}, {artifacts.ErrLimit, "limits"}, {artifacts.ErrName, "names"}} {
		if errors.Is(err, r.kind) {
			rule = r.name
			break
		}
	}
	path, at := "artifact", (*artifacts.Error)(nil)
	if errors.As(err, &at) {
		path = at.File
	}
	into.Check(false, rule, path, "as format 1 and the seal say", oneLine(err.Error()))
}

// print writes a verdict for people or programs and turns failures into exit code 1.
func (f *findingFlags) print(w io.Writer, v verdict) error {
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		if err := e.Encode(v); err != nil {
			return err
		}
	} else {
		f.text(w, v)
	}
	if !v.Intact {
		return fail(ExitNo, fmt.Errorf("%s: %d findings", v.Artifact, v.Failures()))
	}
	return nil
}

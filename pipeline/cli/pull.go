package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/artifacts/oci"
)

// pullFlags are the flags of bench pull.
type pullFlags struct {
	out       string
	referrers bool
	capsule   string
	failing   bool
	json      bool
}

func newPull() *cobra.Command {
	var f pullFlags
	cmd := &cobra.Command{
		Use:   "pull oci://REGISTRY/REPOSITORY:TAG",
		Short: "Bring a published artifact back into a new folder and verify it",
		Long: "Checks sizes and names before the first byte is stored, every digest on the way, then runs bench verify; only what passes gets its " +
			"folder. With --referrers it lists what refers to the artifact instead: its statement, its source capsule, replications of it.",
		Example: "  bench pull oci://ghcr.io/me/results:published-20261130T120000Z-1a2b3c4\n  bench pull oci-layout:./out:first --out /tmp/first\n" +
			"  bench pull oci://ghcr.io/me/results@sha256:... --referrers",
		Args: oneArg("reference"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.out, "out", "", "new `folder` of the artifact (default results/<id>)")
	fs.BoolVar(&f.referrers, "referrers", false, "list what refers to the artifact and pull nothing")
	fs.StringVar(&f.capsule, "capsule", "", "pull only the artifact's source capsule into this new `folder`, see bench rebuild")
	fs.BoolVar(&f.failing, "allow-failing-verify", false, "keep the copy although bench verify has findings")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *pullFlags) run(cmd *cobra.Command, from string) error {
	ref, err := oci.ParseRef(from)
	if err != nil {
		return fail(ExitUsage, err)
	}
	switch {
	case ref.Tag == "" && ref.Digest == "":
		return usage("pull: %s: name a tag or a digest", ref)
	case f.referrers:
		return f.list(cmd, ref)
	case f.capsule != "":
		file, err := oci.New().PullCapsule(cmd.Context(), ref, f.capsule)
		if err != nil {
			return fail(exitOfOCI(err), fmt.Errorf("pull: %w", err))
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), file)
		return err
	}
	var v verdict
	p, err := oci.New().Pull(cmd.Context(), ref, oci.PullOptions{Dir: f.out, Into: resultsDir, Check: func(dir string) error {
		if v, err = verify(dir); err != nil || v.Intact || f.failing {
			return err
		}
		v.Artifact = from
		findingFlags := findingFlags{}
		findingFlags.text(cmd.ErrOrStderr(), v)
		return fail(ExitNo, fmt.Errorf("%s: bench verify has %d findings; nothing is kept (--allow-failing-verify keeps it)", from, v.Failures()))
	}})
	if err != nil {
		return fail(f.exit(err), fmt.Errorf("pull: %w", err))
	}
	return f.print(cmd.OutOrStdout(), p, v)
}

func (f *pullFlags) exit(err error) int {
	var coded *codeError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitOfOCI(err)
}

func (f *pullFlags) print(w io.Writer, p oci.Pulled, v verdict) error {
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{
			"artifact": p.Dir, "reference": p.Ref.String(), "files": p.Files, "bytes": p.Bytes, "allowed": p.Allowed,
			"findings": v.Failures(), "checked": v.Files, "absent": v.Absent, "statement": p.Statement,
		})
	}
	fmt.Fprintf(w, "%s\n  %d files, %d bytes, %d checked against the seal, %d findings\n", p.Ref, p.Files, p.Bytes, v.Files, v.Failures())
	if p.Allowed != "" {
		fmt.Fprintf(w, "  its publisher allowed: %s\n", p.Allowed)
	}
	said := "none is attached"
	if p.Statement != nil {
		said = fmt.Sprintf("agrees with the artifact; nobody signed it here; %d findings when it was published", p.Statement.Predicate.Verified.Findings)
	}
	_, err := fmt.Fprintf(w, "  statement: %s\nartifact: %s\n", said, p.Dir)
	return err
}

func (f *pullFlags) list(cmd *cobra.Command, ref oci.Ref) error {
	ref, all, err := oci.New().Referrers(cmd.Context(), ref)
	if err != nil {
		return fail(exitOfOCI(err), fmt.Errorf("pull: %w", err))
	}
	w := cmd.OutOrStdout()
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{"reference": ref.String(), "referrers": all})
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.Digest, r.Type, r.Created, r.Kind, r.ID)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%d refer to %s\n", len(all), ref)
	return err
}

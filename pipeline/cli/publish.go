package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/oci"
	"transportbench/pipeline/capsule"
)

// refusal is a reason not to publish; its flag allows exactly that.
type refusal struct {
	name, help string
	hit        func(artifacts.Manifest, verdict) string // what is wrong; empty: nothing
}

// refusals lists them in the order in which they are named.
var refusals = []refusal{
	{"dirty", "source with uncommitted changes or of an unknown commit", func(m artifacts.Manifest, _ verdict) string {
		switch {
		case m.Code.Dirty:
			return "its source had uncommitted changes"
		case m.Code.Commit == "":
			return "the commit of its source is not known"
		}
		return ""
	}},
	{"smoke", "a smoke run, whose counts are scaled or capped", ofKind("smoke", "it is a smoke run: counts were scaled or capped")},
	{"quick", "a quick run", ofKind("quick", "it is a quick run, too small for conclusions")},
	{"functional-only", "runs under software emulation, which say that it works and never how fast", func(m artifacts.Manifest, _ verdict) string {
		if m.FunctionalOnly() {
			return "software emulated its processor: functional only"
		}
		return ""
	}},
	{"failing-verify", "findings of bench verify", func(_ artifacts.Manifest, v verdict) string {
		if !v.Intact {
			return fmt.Sprintf("bench verify has %d findings", v.Failures())
		}
		return ""
	}},
	{"absent-samples", "raw samples or logs that are not here", func(_ artifacts.Manifest, v verdict) string {
		if v.Absent > 0 {
			return fmt.Sprintf("%d samples and logs are absent; publish the folder that bench run made", v.Absent)
		}
		return ""
	}},
}

func ofKind(kind, why string) func(artifacts.Manifest, verdict) string {
	return func(m artifacts.Manifest, _ verdict) string {
		if m.Kind == kind {
			return why
		}
		return ""
	}
}

// publishFlags are the flags of bench publish.
type publishFlags struct {
	allow    map[string]*bool
	attachTo string
	capsule  string
	moveTag  bool
	json     bool
}

func newPublish() *cobra.Command {
	f := publishFlags{allow: map[string]*bool{}}
	cmd := &cobra.Command{
		Use:   "publish ARTIFACT oci://REGISTRY/REPOSITORY[:TAG]",
		Short: "Verify an artifact and push it to an OCI registry or layout folder, with a statement about it",
		Long: "Runs bench verify, refuses what is no result (each refusal has a flag that allows exactly that, and the published artifact says " +
			"which were used), pushes every file as a layer of one OCI artifact and attaches an in-toto statement. The same files give the same " +
			"digest. What is there already is not sent again, so an interrupted push is repeated. Without TAG the artifact's id is the tag. " +
			"Credentials come from the Docker config (docker login); plain HTTP is spoken to loopback registries only.",
		Example: "  bench publish results/published-20261130T120000Z-1a2b3c4 oci://ghcr.io/me/results\n" +
			"  bench publish results/custom-20261130T120000Z-1a2b3c4 oci-layout:./out:first\n" +
			"  bench publish results/replica oci://ghcr.io/me/results --attach-to oci://ghcr.io/me/results@sha256:...",
		Args: twoArgs("artifact folder and one reference"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	fs := cmd.Flags()
	for _, r := range refusals {
		f.allow[r.name] = fs.Bool("allow-"+r.name, false, "publish although: "+r.help)
	}
	fs.StringVar(&f.attachTo, "attach-to", "", "make it a referrer of this `reference` in the same repository: the artifact that it replicates, or its plan")
	fs.StringVar(&f.capsule, "capsule", "", "attach the source capsule in `file`, see bench capsule")
	fs.BoolVar(&f.moveTag, "move-tag", false, "move a tag that names another artifact")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *publishFlags) run(cmd *cobra.Command, dir, to string) error {
	ref, opt, err := f.parse(to)
	if err != nil {
		return err
	}
	if err := artifactFolder(dir); err != nil {
		return err
	}
	m, v, err := f.judge(dir)
	if err != nil {
		return err
	}
	if err := f.ownCapsule(m); err != nil {
		return err
	}
	opt.Verdict.Commit, opt.Verdict.Analysis = buildVersion().Commit, summary.AnalysisVersion
	opt.Verdict.Findings, opt.Verdict.Absent = v.Failures(), v.Absent
	if opt.Verdict.Allowed, err = f.refuse(dir, m, v); err != nil {
		return err
	}
	p, err := oci.New().Push(cmd.Context(), dir, ref, opt)
	if err != nil {
		return fail(exitOfOCI(err), fmt.Errorf("publish: %w", err))
	}
	return f.print(cmd.OutOrStdout(), p)
}

func (f *publishFlags) parse(to string) (ref oci.Ref, opt oci.PushOptions, err error) {
	if ref, err = oci.ParseRef(to); err != nil {
		return ref, opt, fail(ExitUsage, err)
	}
	opt = oci.PushOptions{MoveTag: f.moveTag, Capsule: f.capsule}
	if f.attachTo != "" {
		of, err := oci.ParseRef(f.attachTo)
		if err != nil {
			return ref, opt, fail(ExitUsage, fmt.Errorf("--attach-to: %w", err))
		}
		opt.AttachTo = &of
	}
	return ref, opt, nil
}

// ownCapsule refuses sources that the artifact was not measured with.
func (f *publishFlags) ownCapsule(m artifacts.Manifest) error {
	if f.capsule == "" {
		return nil
	}
	info, err := capsule.Peek(f.capsule)
	if err != nil {
		return fail(ExitUsage, err)
	}
	if info.Commit != m.Code.Commit {
		return usage("--capsule %s: holds commit %s, the artifact was measured with %q; make it with bench capsule at that commit", f.capsule, info.Commit, m.Code.Commit)
	}
	return nil
}

func (f *publishFlags) judge(dir string) (artifacts.Manifest, verdict, error) {
	v, err := verify(dir)
	if err != nil {
		return artifacts.Manifest{}, v, err
	}
	m, err := artifacts.ReadManifest(dir)
	if err != nil {
		return m, v, fail(ExitUsage, err)
	}
	if m.Head == "" {
		return m, v, usage("%s: is not sealed; finish it with: bench run --resume %s", dir, dir)
	}
	return m, v, nil
}

// refuse names every reason at once, and the flags that would allow them; it returns those that were allowed.
func (f *publishFlags) refuse(dir string, m artifacts.Manifest, v verdict) (allowed []string, err error) {
	var why, flags []string
	for _, r := range refusals {
		text := r.hit(m, v)
		switch {
		case text == "":
		case *f.allow[r.name]:
			allowed = append(allowed, r.name)
		default:
			why, flags = append(why, text), append(flags, "--allow-"+r.name)
		}
	}
	if len(why) > 0 {
		return nil, fail(ExitNo, fmt.Errorf("%s is not published: %s; to publish it all the same: %s", dir, strings.Join(why, "; "), strings.Join(flags, " ")))
	}
	return allowed, nil
}

func (f *publishFlags) print(w io.Writer, p oci.Pushed) error {
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{
			"reference": p.Ref.String(), "tag": p.Ref.Tag, "digest": p.Ref.Digest, "statement": p.Statement, "capsule": p.Capsule, "sent": p.Sent, "present": p.Present, "bytes": p.Bytes,
		})
	}
	fmt.Fprintf(w, "published %s as tag %s, %d bytes: %d blobs sent, %d were there\nstatement %s\n", p.Ref, p.Ref.Tag, p.Bytes, p.Sent, p.Present, p.Statement)
	if p.Capsule != "" {
		fmt.Fprintf(w, "capsule   %s\n", p.Capsule)
	}
	return nil
}

// exitOfOCI tells an answer of no (another artifact, a hostile copy) from an environment that cannot.
func exitOfOCI(err error) int {
	switch {
	case errors.Is(err, oci.ErrTagTaken), errors.Is(err, oci.ErrStranger), errors.Is(err, oci.ErrHostile):
		return ExitNo
	case errors.Is(err, oci.ErrNotFound), errors.Is(err, artifacts.ErrExists):
		return ExitUsage
	}
	return ExitEnvironment
}

// twoArgs wants exactly two words, called what.
func twoArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usage("%s: want one %s, got %d words; see %s --help", called(cmd), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

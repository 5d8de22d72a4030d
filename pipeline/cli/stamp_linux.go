package cli

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/artifacts"
	"transportbench/artifacts/oci"
	"transportbench/pipeline/runner"
)

func (f *runFlags) tsaFlag(fs *pflag.FlagSet) {
	fs.StringVar(&f.tsa, "tsa", "", "let the RFC 3161 authority at this `address` time-stamp the plan before the first run and the journal after the last")
	fs.StringVar(&f.pushPlan, "push-plan", "", "push the plan to this `reference` before the first run; the registry can say when it arrived")
}

// stampPlan has the plan pushed and stamped before anything is on disk: who does not answer leaves no folder behind. A resumed artifact has
// its first line already.
func (f *runFlags) stampPlan(ctx context.Context, opt runner.Options) (*artifacts.Stamp, error) {
	if f.tsa+f.pushPlan == "" || opt.Resume {
		return nil, nil
	}
	var pushed string
	if f.pushPlan != "" {
		ref, err := f.announce(ctx, opt)
		if err != nil {
			return nil, err
		}
		pushed = ref.String()
	}
	if f.tsa == "" {
		return &artifacts.Stamp{Pushed: pushed}, nil
	}
	stamp, err := askStamp(ctx, f.tsa, opt.Plan.Hash)
	if err != nil {
		return nil, err
	}
	stamp.Pushed = pushed
	return stamp, nil
}

// announce pushes the plan to a registry.
func (f *runFlags) announce(ctx context.Context, opt runner.Options) (oci.Ref, error) {
	ref, err := oci.ParseRef(f.pushPlan)
	if err != nil {
		return ref, fail(ExitUsage, fmt.Errorf("--push-plan: %w", err))
	}
	var tsv bytes.Buffer
	if err := opt.Plan.WriteTSV(&tsv); err != nil {
		return ref, fail(ExitUsage, err)
	}
	ref, err = oci.New().PushPlan(ctx, ref, oci.Plan{ID: opt.Manifest.ID, Hash: opt.Plan.Hash, TSV: tsv.Bytes(), Created: time.Now()})
	return ref, fail(exitOfOCI(err), err)
}

// stampJournal has the last line of a sealed artifact stamped. What was measured stays as it is when that fails.
func (f *runFlags) stampJournal(cmd *cobra.Command, t runner.Totals) error {
	if f.tsa == "" || !t.Sealed {
		return nil
	}
	text, err := anchorJournal(cmd.Context(), t.Dir, f.tsa)
	if err != nil {
		return fmt.Errorf("%w; the artifact is complete, anchor it with: bench anchor %s --tsa ADDRESS", err, t.Dir)
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "bench: anchored: %s\n", text)
	return err
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/artifacts"
	"transportbench/pipeline/runner"
)

func (f *runFlags) tsaFlag(fs *pflag.FlagSet) {
	fs.StringVar(&f.tsa, "tsa", "", "let the RFC 3161 authority at this `address` time-stamp the plan before the first run and the journal after the last")
}

// stampPlan has the plan stamped before anything is on disk: an authority that does not answer leaves no folder behind. A resumed artifact
// has its first line already.
func (f *runFlags) stampPlan(ctx context.Context, opt runner.Options) (*artifacts.Stamp, error) {
	if f.tsa == "" || opt.Resume {
		return nil, nil
	}
	return askStamp(ctx, f.tsa, opt.Plan.Hash)
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

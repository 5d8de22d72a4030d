package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"transportbench/pipeline/sandbox"
)

func newClean() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed benches left in the container engine",
		Long: "Every start of bench with containers does the same. Containers and volumes carry our labels and say which process owns them; those of a bench " +
			"that lives, and everything of others, stay. What a bench on another machine or in another container owns is shown and left alone. Images stay.",
		Example: "  bench clean",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			strays, err := sandbox.RemoveStrays(cmd.Context())
			out := cmd.OutOrStdout()
			for _, s := range strays.Removed {
				fmt.Fprintln(out, "removed", s)
			}
			for _, s := range strays.Foreign {
				fmt.Fprintln(out, "left alone, owned elsewhere:", s)
			}
			if err == nil && len(strays.Removed) == 0 {
				fmt.Fprintln(out, "nothing to remove")
			}
			return fail(ExitEnvironment, err)
		},
	}
}

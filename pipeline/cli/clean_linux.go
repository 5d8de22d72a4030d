package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"transportbench/pipeline/sandbox"
)

// imagesOf is the repository of our images, as containers/images.yaml has it.
const imagesOf = "transportbench/"

func newClean() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed benches left in the container engine",
		Long: "Every start of bench with containers does the same. Containers and volumes carry our labels and say which process owns them; those of a bench " +
			"that lives, and everything of others, stay. What a bench on another machine or in another container owns is shown and left alone. Images stay, for the next run needs them, unless --images is given.",
		Example: "  bench clean\n  bench clean --images",
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
			removed := len(strays.Removed)
			if err == nil && all {
				var images []string
				images, err = sandbox.RemoveImages(cmd.Context(), imagesOf)
				removed += len(images)
				for _, i := range images {
					fmt.Fprintln(out, "removed image", i)
				}
			}
			if err == nil && removed == 0 {
				fmt.Fprintln(out, "nothing to remove")
			}
			return fail(ExitEnvironment, err)
		},
	}
	cmd.Flags().BoolVar(&all, "images", false, "remove our images too, those of earlier builds among them")
	return cmd
}

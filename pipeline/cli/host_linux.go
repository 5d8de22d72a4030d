package cli

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"transportbench/pipeline/host"
)

func newHost() *cobra.Command {
	var o host.Options
	cmd := &cobra.Command{
		Use: "host", Short: "Print what this machine is, as an artifact stores it", Args: noArgs,
		Long:    "One JSON object. What cannot be read is the word unknown. No host name unless asked for.",
		Example: "  bench host | jq .cpu",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Toolchains = map[string]string{"go": buildVersion().Toolchain, "gcc": gccVersion(cmd.Context())}
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent("", "  ")
			return enc.Encode(host.Capture(os.DirFS("/"), o))
		},
	}
	cmd.Flags().StringVar(&o.Label, "host-label", "", "name of this machine (default: a short hash)")
	cmd.Flags().BoolVar(&o.WithHostName, "with-host-name", false, "include the host name")
	return cmd
}

package cli

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"transportbench/transports/echotest/private"
)

// isolatedArg marks a bench that already is inside a private network of its own.
const isolatedArg = "--in-private-network"

// isolated runs the current command line again in a private network and returns its outcome.
func isolated(cmd *cobra.Command, args []string) error {
	c := private.Command(cmd.Context(), append(args, isolatedArg))
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fail(exit.ExitCode(), errTold)
	}
	if err != nil {
		return fail(ExitEnvironment, fmt.Errorf("private network: %w; see bench doctor", err))
	}
	return nil
}

// Package cli is the command line of bench: flags in, one-line errors and documented exit codes out.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes of bench.
const (
	ExitOK          = 0   // done; unsupported cells are allowed and counted
	ExitNo          = 1   // the question was answered no: a regression, a finding, a difference
	ExitUsage       = 2   // wrong flag, argument or matrix
	ExitEnvironment = 3   // this machine cannot; `bench doctor` names why
	ExitPartial     = 4   // a planned run failed or did not run
	ExitUndecided   = 5   // too few runs to tell
	ExitInterrupted = 130 // Ctrl-C or SIGTERM
)

const exitHelp = `Exit codes:
  0 done   1 answered no   2 usage   3 this machine cannot (see bench doctor)   4 partial   5 undecided   130 interrupted`

// codeError carries the exit code that an error means.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// fail gives err its exit code; a nil err stays nil.
func fail(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codeError{code, err}
}

func usage(format string, args ...any) error { return fail(ExitUsage, fmt.Errorf(format, args...)) }

// console is where a command reads and writes.
type console struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs bench with args (without the program's name) and returns its exit code. Errors are one line on stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, hidden := holder(args); hidden {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(console{stdin, stdout, stderr})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(stderr, "bench: %s\n", oneLine(err.Error()))
	var coded *codeError
	if errors.As(err, &coded) {
		return coded.code
	}
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	return ExitNo
}

// oneLine folds an error into a single line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func newRoot(c console) *cobra.Command {
	root := &cobra.Command{
		Use:   "bench",
		Short: "Measure reliable transports against each other, reproducibly",
		Long: "bench measures TCP, RakNet, KCP, QUIC and your own transport through impaired networks and writes artifacts that " +
			"others can check and repeat.\n\n" + exitHelp,
		Example:       "  bench plan | head\n  bench run --matrix quick\n  bench doctor\n  bench conform ./mydriver",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%s: %w; see %s --help", cmd.CommandPath(), err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newPlan(), newAnalyze(), newVerify(), newKeep(), newVersion())
	root.AddCommand(platformCommands()...)
	return root
}

// noArgs refuses stray words with exit code 2.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: unexpected argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// oneArg wants exactly one word, called what.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s: want one %s, got %d; see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// Package cli is the command line of bench: flags in, one-line errors and documented exit codes out.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/pipeline/sandbox"
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

// errTold is an exit code whose reason another process has already printed.
var errTold = errors.New("")

// console is where a command reads and writes, and the lock of the machine that it measures on.
type console struct {
	in       io.Reader
	out, err io.Writer
	lock     string // path
}

// Main runs bench with args (without the program's name) and returns its exit code. Errors are one line on stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return console{stdin, stdout, stderr, sandbox.LockPath()}.main(args)
}

func (c console) main(args []string) int {
	if code, hidden := holder(args); hidden {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(c)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	if text := oneLine(err.Error()); text != "" {
		fmt.Fprintf(c.err, "bench: %s\n", text)
	}
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
			"others can check and repeat.",
		Example:       "  bench plan | head\n  bench run --matrix quick\n  bench doctor\n  bench conform ./mydriver",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newPlan(), newAnalyze(), newReport(), newVerify(), newAudit(), newCompare(), newClaims(), newRatio(), newExplain(), newSensitivity(), newKeep(), newPublish(), newPull(), newAnchor(), newCapsule(), newRebuild(), newVersion())
	root.AddCommand(platformCommands(c)...)
	withExitCodes(root)
	return root
}

// withExitCodes lets the help of every command end with the exit codes.
func withExitCodes(cmd *cobra.Command) {
	if !strings.Contains(cmd.Long, exitHelp) {
		cmd.Long = cmp.Or(cmd.Long, cmd.Short) + "\n\n" + exitHelp
	}
	for _, c := range cmd.Commands() {
		withExitCodes(c)
	}
}

// flagError says which flag is wrong without the words of the library that parsed it.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		f := value.GetFlag()
		kind := map[string]string{"float64": "a number", "int": "a whole number", "bool": "true or false"}[f.Value.Type()]
		return usage("--%s %q: want %s; see %s --help", f.Name, value.GetValue(), cmp.Or(kind, "another value"), cmd.CommandPath())
	}
	return usage("%s: %w; see %s --help", called(cmd), err, cmd.CommandPath())
}

// called is the command as its user knows it, without the program's name, which is printed before every error.
func called(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// noArgs refuses stray words with exit code 2.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: unexpected argument %q; see %s --help", called(cmd), args[0], cmd.CommandPath())
	}
	return nil
}

// noCommand refuses a word that stands where a command belongs.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unknown command %q; see %s --help for the list", args[0], cmd.CommandPath())
	}
	return nil
}

// oneArg wants exactly one word, called what.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s: want one %s, got %d; see %s --help", called(cmd), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

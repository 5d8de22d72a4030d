package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/pipeline/drivers"
	"transportbench/transports/echotest"
	"transportbench/transports/echotest/private"
)

func newConform() *cobra.Command {
	var all, asJSON, inside bool
	var dir string
	var suites []string
	cmd := &cobra.Command{
		Use:     "conform DRIVER...",
		Short:   "Check that drivers, in any language, keep the driver contract",
		Long:    "Runs every check of transports/wire/README.md against the given programs, in a private network of its own. Exit code 1 means that a check failed.",
		Example: "  bench conform ./mydriver\n  bench conform --all\n  bench conform --suite single,sparse --json ./mydriver",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !inside {
				return isolated(cmd, os.Args[1:])
			}
			if err := private.LoopbackUp(); err != nil {
				return fail(ExitEnvironment, err)
			}
			folder, err := driversFolder(dir)
			if err != nil {
				return err
			}
			if all {
				args = append(args, built(cmd, folder)...)
			}
			if len(args) == 0 {
				return usage("conform: name a driver or give --all")
			}
			for _, path := range args {
				if err := program(path); err != nil {
					return err
				}
			}
			return conform(cmd, args, filepath.Join(folder, drivers.Launch), suites, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "check every built driver")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON report a driver")
	cmd.Flags().StringVar(&dir, "drivers", "", "look for built drivers in this `folder` only")
	cmd.Flags().BoolVar(&inside, strings.TrimLeft(isolatedArg, "-"), false, "")
	_ = cmd.Flags().MarkHidden(strings.TrimLeft(isolatedArg, "-"))
	cmd.Flags().StringSliceVar(&suites, "suite", nil, "only these suites (single, sparse, concurrent, loaded)")
	return cmd
}

// built lists the paths of the drivers that are here.
func built(cmd *cobra.Command, folder string) []string {
	var paths []string
	for _, d := range drivers.List(cmd.Context(), folder, nil) {
		if d.Missing == "" {
			paths = append(paths, d.Path)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "skipped: %s\n", d.Missing)
		}
	}
	return paths
}

// program refuses what cannot be a driver at all, before any check of it fails with a worse reason.
func program(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return usage("conform %s: %w; name the file of a driver", path, cause(err))
	case !info.Mode().IsRegular():
		return usage("conform %s: is not a file; name the file of a driver", path)
	case info.Mode().Perm()&0o111 == 0:
		return usage("conform %s: is not executable; run chmod +x on it", path)
	}
	return nil
}

func conform(cmd *cobra.Command, paths []string, launch string, suites []string, asJSON bool) error {
	out, failed := cmd.OutOrStdout(), 0
	for _, path := range paths {
		opt := echotest.Options{Driver: path, Launch: launch, Suites: suites}
		if !asJSON {
			opt.Progress = func(c echotest.Check) { fmt.Fprintln(out, "  "+checkText(c)) }
			fmt.Fprintf(out, "%s\n", filepath.Base(path))
		}
		rep := echotest.Conform(cmd.Context(), opt)
		failed += rep.Failed
		if asJSON {
			if err := json.NewEncoder(out).Encode(rep); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(out, "%s: %d passed, %d failed, %d unsupported\n", rep.Driver, rep.Passed, rep.Failed, rep.Unsupported)
	}
	if err := cmd.Context().Err(); err != nil {
		return fail(ExitInterrupted, err)
	}
	if failed > 0 {
		return fail(ExitNo, fmt.Errorf("conform: %d checks failed", failed))
	}
	return nil
}

func checkText(c echotest.Check) string {
	text := fmt.Sprintf("%-11s %s", c.Outcome, c.Name)
	if c.Reason != "" {
		text += ": " + oneLine(c.Reason)
	}
	if c.Expected != "" || c.Found != "" {
		text += fmt.Sprintf(" (expected %s, found %s)", oneLine(c.Expected), oneLine(c.Found))
	}
	return text
}

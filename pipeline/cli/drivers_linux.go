package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/pipeline/drivers"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// driversFolder finds where the drivers lie.
func driversFolder(flag string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fail(ExitEnvironment, err)
	}
	dir := ""
	if flag == "" {
		dir, err = carriedDrivers(exe)
	}
	if err == nil && dir == "" {
		dir, err = drivers.Dir(flag, exe)
	}
	if err != nil {
		return "", fail(ExitEnvironment, err)
	}
	dir, err = filepath.Abs(dir) // launch and drivers are started from other folders
	if err != nil {
		return "", fail(ExitEnvironment, err)
	}
	if _, err := os.Stat(filepath.Join(dir, drivers.Launch)); err != nil {
		return "", fail(ExitEnvironment, fmt.Errorf("launch: %w; run `bench drivers build`", err))
	}
	return dir, nil
}

// localRuntime opens the local runtime with the launcher beside the drivers.
func localRuntime(driversDir string) (*sandbox.Local, error) {
	dir, err := driversFolder(driversDir)
	if err != nil {
		return nil, err
	}
	rt, err := sandbox.NewLocal(filepath.Join(dir, drivers.Launch))
	return rt, fail(ExitEnvironment, err)
}

func newDrivers() *cobra.Command {
	cmd := &cobra.Command{Use: "drivers", Short: "Build or list the drivers", Args: noCommand, Example: "  bench drivers build\n  bench drivers list --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newDriversBuild(), newDriversList())
	return cmd
}

func newDriversBuild() *cobra.Command {
	var asJSON bool
	opt := drivers.Options{KCPSource: os.Getenv("KCP_SRC")}
	cmd := &cobra.Command{
		Use: "build", Short: "Build launch and every driver of this checkout into .build", Args: noArgs,
		Long: "Needs the Go toolchain and gcc with static libc. The same sources and toolchain give the same bytes.\n\n" +
			"The KCP core is not in this repository: its pinned commit is fetched once into the user's cache, or taken from the folder that\n" +
			"KCP_SRC names. Without it kcp-c is left out, and its runs are unsupported.",
		Example: "  bench drivers build\n  KCP_SRC=../kcp bench drivers build --allow-unpinned",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := drivers.BuildWith(cmd.Context(), ".", drivers.BuildDir("."), opt, func(b drivers.Built) {
				if asJSON {
					_ = json.NewEncoder(cmd.OutOrStdout()).Encode(b)
				} else if b.Skipped != "" {
					fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", b.Name, b.Skipped)
				} else {
					fmt.Fprintf(cmd.OutOrStdout(), "%-8s sha256:%s\n", b.Name, b.SHA256)
				}
			})
			return fail(ExitEnvironment, err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a driver")
	cmd.Flags().BoolVar(&opt.AllowUnpinned, "allow-unpinned", false, "build over another KCP core than the pinned one, as kcp-c@<core>")
	return cmd
}

func newDriversList() *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use: "list", Short: "List the drivers, what they say of themselves and how they differ from the pins", Args: noArgs,
		Example: "  bench drivers list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := driversFolder(dir)
			if err != nil {
				return err
			}
			found := drivers.List(cmd.Context(), folder, nil)
			if pins, err := drivers.ReadPins(pinsFile); err == nil {
				pins.Mark(found)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			return listDrivers(cmd, found)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.Flags().StringVar(&dir, "drivers", "", "look in this `folder` only")
	return cmd
}

func listDrivers(cmd *cobra.Command, found []drivers.Driver) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 2, 0, 2, ' ', 0)
	for _, d := range found {
		switch {
		case d.Missing != "":
			fmt.Fprintf(w, "%s\t%s\n", d.Name, d.Missing)
		case d.Drift != "":
			fmt.Fprintf(w, "%s\t%s %s\tnot the pinned binary: %s\n", d.Name, d.Describe.Transport, d.Describe.TransportVersion, d.Drift)
		default:
			fmt.Fprintf(w, "%s\t%s %s\tas pinned\n", d.Name, d.Describe.Transport, d.Describe.TransportVersion)
		}
	}
	return w.Flush()
}

// driverStates tells doctor which columns each driver serves.
func driverStates(cmd *cobra.Command, m *matrix.Matrix, dir string) []driverState {
	var states []driverState
	folder, err := driversFolder(dir)
	if err != nil {
		return nil // localRuntime has reported it
	}
	for _, d := range drivers.List(cmd.Context(), folder, nil) {
		s := driverState{Name: d.Name, Path: d.Path, Missing: d.Missing, Columns: []string{}}
		for _, v := range m.Variants {
			if v.Driver == d.Name {
				s.Columns = append(s.Columns, v.Name)
			}
		}
		states = append(states, s)
	}
	return states
}

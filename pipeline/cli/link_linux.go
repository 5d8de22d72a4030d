package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transportbench/pipeline/calibrate"
	"transportbench/pipeline/host"
	"transportbench/pipeline/link"
)

func newLink() *cobra.Command {
	cmd := &cobra.Command{
		Use: "link", Short: "Say how well this machine impairs its loopback", Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCalibrate())
	return cmd
}

// calibration are the flags of link calibrate.
type calibration struct {
	options   calibrate.Options
	asJSON    bool
	out, from string
	inside    bool
}

func newCalibrate() *cobra.Command {
	var f calibration
	cmd := &cobra.Command{
		Use: "calibrate", Short: "Measure netem, nft and nfqueue beside each other: losses, delay, cost", Args: noArgs,
		Long: "In a private network of its own, every backend that works here impairs numbered datagrams: how many are lost and how " +
			"independently, what a UDP_SEGMENT batch loses, whether a seed repeats the losses, the round trip beside the nominal one, CPU " +
			"time a packet and throughput without loss. pipeline/calibrate/README.md describes the JSON. Exit code 3: no backend works here.",
		Example: "  bench link calibrate\n  bench link calibrate --backend nfqueue --packets 20000 --json\n  bench link calibrate --out ./calibration",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.options.Packets, "packets", 110_000, "datagrams for each backend and loss rate; over 106,000 leave 100,000 echoes at 5 % loss")
	flags.IntVar(&f.options.Rounds, "rounds", 5, "interleaved rounds of CPU time and throughput")
	flags.StringSliceVar(&f.options.Backends, "backend", []string{link.BackendNetem, link.BackendNFT, link.BackendNFQueue}, "only these backends")
	flags.StringVar(&f.options.Seed, "seed", "transportbench-calibration", "decides which datagrams nfqueue loses")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON instead of the table")
	flags.StringVar(&f.out, "out", "", "also write calibration.json and calibration.md into this new `folder`")
	flags.StringVar(&f.from, "from", "", "measure nothing: read this calibration.json `file` and print its table")
	flags.BoolVar(&f.inside, strings.TrimLeft(isolatedArg, "-"), false, "")
	_ = flags.MarkHidden(strings.TrimLeft(isolatedArg, "-"))
	return cmd
}

func (f *calibration) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.from != "" {
		return f.show(cmd.OutOrStdout())
	}
	if !f.inside {
		return isolated(cmd, os.Args[1:])
	}
	r, err := f.measure(cmd)
	if err != nil {
		return fail(ExitEnvironment, err)
	}
	if err := f.write(r); err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Backends, func(b calibrate.Backend) bool { return b.Unsupported == "" }) {
		return fail(ExitEnvironment, fmt.Errorf("link calibrate: no backend works here"))
	}
	return nil
}

func (f *calibration) check() error {
	if f.options.Packets < 1000 || f.options.Packets > 10_000_000 {
		return usage("--packets %d: want 1000 to 10000000", f.options.Packets)
	}
	if f.options.Rounds < 1 || f.options.Rounds > 1000 {
		return usage("--rounds %d: want 1 to 1000", f.options.Rounds)
	}
	for i, name := range f.options.Backends {
		if !slices.Contains([]string{link.BackendNetem, link.BackendNFT, link.BackendNFQueue}, name) || slices.Contains(f.options.Backends[:i], name) {
			return usage("--backend %q: want netem, nft or nfqueue, each once", name)
		}
	}
	return nil
}

func (f *calibration) measure(cmd *cobra.Command) (*calibrate.Report, error) {
	r, err := calibrate.Run(cmd.Context(), f.options, func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), step) })
	if err != nil {
		return nil, err
	}
	v := buildVersion()
	r.Bench = calibrate.Bench{Commit: v.Commit, Dirty: v.Dirty, Toolchain: v.Toolchain}
	r.Started = time.Now().UTC().Truncate(time.Second).Format(time.RFC3339)
	env := host.Capture(os.DirFS("/"), host.Options{})
	r.Machine = calibrate.Machine{Kernel: env.Kernel, Arch: runtime.GOARCH, CPUModel: env.CPU.Model, CPUs: runtime.NumCPU()}
	r.Machine.Emulated = strings.Contains(env.CPU.Model, "QEMU TCG")
	return r, nil
}

// show prints the table of a report that was measured before.
func (f *calibration) show(out io.Writer) error {
	file, err := os.Open(f.from)
	if err != nil {
		return usage("--from: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	r, err := calibrate.Read(file)
	if err != nil {
		return usage("%s: %w", f.from, err)
	}
	if err := f.write(r); err != nil {
		return err
	}
	return f.print(out, r)
}

func (f *calibration) print(out io.Writer, r *calibrate.Report) error {
	if f.asJSON {
		return writeJSON(out, r)
	}
	return r.WriteText(out)
}

// write stores both forms in a folder that must not exist yet.
func (f *calibration) write(r *calibrate.Report) error {
	if f.out == "" {
		return nil
	}
	if err := os.Mkdir(f.out, 0o755); err != nil {
		return usage("--out: %w", err)
	}
	var asJSON, table bytes.Buffer
	if err := writeJSON(&asJSON, r); err != nil {
		return err
	}
	if err := r.WriteMarkdown(&table); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"calibration.json": asJSON.Bytes(), "calibration.md": table.Bytes()} {
		if err := os.WriteFile(filepath.Join(f.out, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

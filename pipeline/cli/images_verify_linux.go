package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/containers"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/images"
)

func newImagesVerify() *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use: "verify", Short: "Build the images again in another folder and compare, with the first build and with the pins", Args: noArgs,
		Long: "The second build sees a copy of the recorded sources alone. Layers made by other tools than those they are compared with are\n" +
			"reported as not comparable; the Go layers of the same image are compared still. Exit code 1: something differs.",
		Example: "  bench images build && bench images verify",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := f.verify(cmd)
			if err != nil {
				return err
			}
			return f.report(cmd, findings)
		},
	}
	f.register(cmd)
	return cmd
}

// verify compares every image that is built with a rebuild and with the pins.
func (f *imageFlags) verify(cmd *cobra.Command) ([]images.Finding, error) {
	spec, err := images.Load(containers.Files)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	have, err := spec.Built(f.folder())
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	pins, err := f.pins()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "images-verify-")
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // scratch: what stays behind is in the way of nobody
	opt := f.opt
	for _, i := range have {
		opt.AllowUnpinned = opt.AllowUnpinned || strings.Contains(i.Name, "@")
	}
	again, err := spec.Rebuild(cmd.Context(), ".", scratch, have, opt, func(drivers.Built) {})
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	second := map[string]images.Image{}
	for _, i := range again {
		second[i.Name] = i
	}
	var all []images.Finding
	for _, i := range have {
		all = append(all, images.Rebuilt(i, second[i.Name])...)
		all = append(all, pins.Compare(i)...)
	}
	return all, nil
}

// report prints every finding and fails when one is a difference, or when there was nothing to compare.
func (f *imageFlags) report(cmd *cobra.Command, findings []images.Finding) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 2, 0, 2, ' ', 0)
	count := map[images.Result]int{}
	for _, x := range findings {
		if x.Part == images.PartImage {
			count[x.Result]++
		}
		if f.asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(x); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", x.Image, x.Against, x.Part, x.Result, strings.TrimSpace(x.Have+" "+x.Why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case count[images.Differs] > 0:
		return fail(ExitNo, fmt.Errorf("images: %d comparisons differ; the lines above name the layers", count[images.Differs]))
	case count[images.Same]+count[images.NotComparable] == 0:
		return fail(ExitEnvironment, fmt.Errorf("images: nothing to compare in %s; run `bench images build`", f.folder()))
	}
	return nil
}

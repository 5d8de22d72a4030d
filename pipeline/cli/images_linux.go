package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/containers"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/images"
)

// imagesDir receives archives and lists of contents unless --out names another place; git ignores it.
const imagesDir = ".build/images"

func newImages() *cobra.Command {
	cmd := &cobra.Command{Use: "images", Short: "Build, list or verify the container images", Args: noCommand,
		Long: "Images are assembled from nothing as containers/images.yaml says: one layer a file, no base image, no engine needed. The same\n" +
			"sources and toolchains give the same digests.",
		Example: "  bench images build\n  bench images verify\n  docker load -i .build/images/tcp.tar",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newImagesBuild(), newImagesList(), newImagesVerify())
	return cmd
}

// imageFlags are what the three commands share.
type imageFlags struct {
	dir    string // of drivers
	out    string
	asJSON bool
	freeze []string // images
	opt    drivers.Options
}

func (f *imageFlags) register(cmd *cobra.Command) {
	f.opt.KCPSource = os.Getenv("KCP_SRC")
	cmd.Flags().StringVar(&f.dir, "drivers", "", "`folder` of the binaries (default "+drivers.BuildDir("")+")")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
}

// folder is where the binaries lie or go to.
func (f *imageFlags) folder() string { return cmp.Or(f.dir, drivers.BuildDir(".")) }

func newImagesBuild() *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use: "build", Short: "Build drivers and bench, and write an archive and a list of contents per image", Args: noArgs,
		Long: "Writes <image>.tar, which docker load takes, and <image>.cdx.json (CycloneDX) into the output folder. Needs a checkout, the Go\n" +
			"toolchain and gcc with static libc.",
		Example: "  bench images build\n  KCP_SRC=../kcp bench images build --allow-unpinned",
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := images.Load(containers.Files)
			if err != nil {
				return fail(ExitUsage, err)
			}
			if _, err := os.Stat(pinsFile); err != nil {
				return fail(ExitEnvironment, fmt.Errorf("images: %w; run it in the root of a checkout", err))
			}
			all, err := spec.Make(cmd.Context(), ".", f.folder(), f.opt, func(drivers.Built) {})
			if err != nil {
				return fail(ExitEnvironment, err)
			}
			if err := f.write(all); err != nil {
				return fail(ExitEnvironment, err)
			}
			return f.show(cmd, all)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.out, "out", imagesDir, "`folder` of archives and lists")
	cmd.Flags().StringSliceVar(&f.freeze, "freeze", nil, "write the digests of these `images` (all: every one that was built) into "+pinsFile)
	cmd.Flags().BoolVar(&f.opt.AllowUnpinned, "allow-unpinned", false, "build kcp-c over another KCP core than the pinned one, as kcp-c@<core>")
	return cmd
}

// write stores archive and list of every image, and the pins if asked to.
func (f *imageFlags) write(all []images.Image) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("images folder: %w", err)
	}
	cc := ""
	for _, i := range all {
		if i.Missing != "" {
			continue
		}
		if err := writeWhole(filepath.Join(f.out, i.Name+".tar"), i.WriteArchive); err != nil {
			return err
		}
		if err := writeWhole(filepath.Join(f.out, i.Name+".cdx.json"), i.WriteSBOM); err != nil {
			return err
		}
		for _, l := range i.Layers {
			if l.C {
				cc = l.Toolchain
			}
		}
	}
	if len(f.freeze) == 0 {
		return nil
	}
	some, err := f.frozen(all)
	if err != nil {
		return err
	}
	return images.Freeze(pinsFile, cc, some)
}

// frozen picks the images that --freeze names.
func (f *imageFlags) frozen(all []images.Image) ([]images.Image, error) {
	if slices.Equal(f.freeze, []string{"all"}) {
		return all, nil
	}
	var some []images.Image
	for _, name := range f.freeze {
		i := slices.IndexFunc(all, func(i images.Image) bool { return i.Name == name && i.Missing == "" })
		if i < 0 {
			return nil, fmt.Errorf("--freeze %s: no such image was built", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// writeWhole writes a file that is complete or not there.
func writeWhole(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func newImagesList() *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the images that the built binaries give, with their digests", Args: noArgs, Example: "  bench images list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := f.built()
			if err != nil {
				return err
			}
			return f.show(cmd, all)
		},
	}
	f.register(cmd)
	return cmd
}

// built assembles the images of the folder.
func (f *imageFlags) built() ([]images.Image, error) {
	spec, err := images.Load(containers.Files)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	all, err := spec.Built(f.folder())
	return all, fail(ExitEnvironment, err)
}

// pins reads pins.json; a bench without a checkout has none.
func (f *imageFlags) pins() (images.Pins, error) {
	p, err := images.ReadPins(pinsFile)
	if errors.Is(err, os.ErrNotExist) {
		return images.Pins{}, nil
	}
	return p, fail(ExitUsage, err)
}

func (f *imageFlags) show(cmd *cobra.Command, all []images.Image) error {
	pins, err := f.pins()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 2, 0, 2, ' ', 0)
	for _, i := range all {
		switch found := pins.Pinned(i); {
		case f.asJSON:
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(imageLine{i, found.Result}); err != nil {
				return err
			}
		case i.Missing != "":
			fmt.Fprintf(w, "%s\t%s\n", i.Name, i.Missing)
		case found.Result == images.Same:
			fmt.Fprintf(w, "%s\t%s\tas pinned\n", i.Name, i.ConfigDigest)
		default:
			fmt.Fprintf(w, "%s\t%s\tpins: %s %s\n", i.Name, i.ConfigDigest, found.Result, found.Why)
		}
	}
	return w.Flush()
}

// imageLine is one line of --json.
type imageLine struct {
	images.Image
	Pins images.Result `json:"pins"`
}

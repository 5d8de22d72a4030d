package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"transportbench/pipeline/carry"
	"transportbench/pipeline/drivers"
)

// newRelease builds what strangers download.
func newRelease() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "release", Short: "Build one static program per processor that carries launch and the Go drivers", Args: noArgs,
		Long: "Writes bench-linux-amd64, bench-linux-arm64, LICENSES.txt and SHA256SUMS. Each program needs nothing else: it unpacks what it carries into the\n" +
			"user's cache at the first use and checks it at every use. The same commit and toolchains give the same bytes.\n\n" +
			"Needs the Go toolchain and a C compiler with static libc for both processors.",
		Example: "  bench release --out dist",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if buildVersion().Dirty {
				fmt.Fprintln(cmd.ErrOrStderr(), "bench: this checkout was changed after its last commit: what such a release measures is not for publication")
			}
			return fail(ExitEnvironment, release(cmd, out))
		},
	}
	cmd.Flags().StringVar(&out, "out", "dist", "`folder` to write to; what is there of an earlier release is replaced")
	return cmd
}

func release(cmd *cobra.Command, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	terms, err := drivers.Licences(cmd.Context(), ".")
	if err != nil {
		return err
	}
	sums, err := addFile(cmd, out, "LICENSES.txt", terms, 0o644)
	if err != nil {
		return err
	}
	for _, t := range drivers.Targets() {
		program, err := releaseFor(cmd.Context(), t)
		if err != nil {
			return err
		}
		line, err := addFile(cmd, out, "bench-linux-"+t.Arch, program, 0o755)
		if err != nil {
			return err
		}
		sums += line
	}
	return replaceFile(filepath.Join(out, "SHA256SUMS"), []byte(sums), 0o644)
}

// addFile writes one file of the release and says its digest, as sha256sum does.
func addFile(cmd *cobra.Command, out, name string, content []byte, mode os.FileMode) (string, error) {
	if err := replaceFile(filepath.Join(out, name), content, mode); err != nil {
		return "", fmt.Errorf("release: %w", err)
	}
	line := fmt.Sprintf("%s  %s\n", digest(content), name)
	_, err := fmt.Fprint(cmd.OutOrStdout(), line)
	return line, err
}

// replaceFile renames into place, because the old program may be running.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path+".new", content, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// releaseFor builds in a folder of its own and packs the parts into one program.
func releaseFor(ctx context.Context, t drivers.Target) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bench-release-")
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // scratch: what stays behind is in the way of nobody
	names, err := drivers.BuildRelease(ctx, ".", dir, t)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("release: %w", err)
		}
	}
	bench, err := os.ReadFile(filepath.Join(dir, drivers.Bench))
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	var program bytes.Buffer
	err = carry.Pack(&program, bench, files)
	return program.Bytes(), err
}

// carriedDrivers is the folder of the drivers that this program carries, or empty when it carries none.
func carriedDrivers(executable string) (string, error) {
	dir, err := carry.Unpack(executable, func() (string, error) {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("carried drivers: %w; set XDG_CACHE_HOME or HOME, or give --drivers DIR", err)
		}
		return filepath.Join(cache, "transportbench", "carried"), nil
	})
	if errors.Is(err, carry.ErrNone) {
		return "", nil
	}
	return dir, err
}

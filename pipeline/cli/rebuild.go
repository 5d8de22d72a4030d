package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
	"transportbench/pipeline/capsule"
	"transportbench/pipeline/drivers"
)

type rebuildFlags struct {
	capsule, keep string
	offline       bool
}

func (f *rebuildFlags) run(cmd *cobra.Command, dir string) error {
	if !f.offline {
		return usage("rebuild: say --offline: it compiles from the capsule alone")
	}
	if err := artifactFolder(dir); err != nil {
		return err
	}
	m, err := artifacts.ReadManifest(dir)
	if err != nil {
		return fail(ExitUsage, err)
	}
	work, remove, err := f.temporary()
	if err != nil {
		return fail(ExitEnvironment, fmt.Errorf("rebuild: %w", err))
	}
	defer remove()
	c, err := capsule.Unpack(f.capsule, work)
	if err != nil {
		return fail(ExitUsage, err)
	}
	if err := sameOrigin(cmd.Context(), c, m); err != nil {
		return err
	}
	built, err := compile(cmd.Context(), c)
	if err != nil {
		return err
	}
	return judgeRebuild(cmd.OutOrStdout(), c, m, built)
}

// sameOrigin wants the capsule to be of the artifact's commit and this Go to be the one that made the drivers.
func sameOrigin(ctx context.Context, c *capsule.Open, m artifacts.Manifest) error {
	if c.Commit != m.Code.Commit {
		return fail(ExitNo, fmt.Errorf("capsule is of commit %s, the artifact of %s; pull the artifact's own capsule", c.Commit, m.Code.Commit))
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return fail(ExitEnvironment, fmt.Errorf("rebuild: go: %w; install %s", err, c.Toolchain))
	}
	if here := strings.TrimSpace(string(out)); here != c.Toolchain {
		return fail(ExitEnvironment, fmt.Errorf("rebuild: this is %s, the capsule was made with %s; install that one", here, c.Toolchain))
	}
	return nil
}

// compile lets this bench build the drivers below the capsule's source, in an environment that has no way out.
func compile(ctx context.Context, c *capsule.Open) (map[string]drivers.Built, error) {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fail(ExitEnvironment, fmt.Errorf("rebuild: %w", err))
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, self, "drivers", "build", "--json")
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Source, &out, &log
	cmd.Env = c.Env(os.Environ(), strings.TrimSpace(string(cache)))
	if err := cmd.Run(); err != nil {
		return nil, fail(ExitEnvironment, fmt.Errorf("rebuild: %w: %s", err, oneLine(log.String())))
	}
	built := map[string]drivers.Built{}
	for sc := bufio.NewScanner(&out); sc.Scan(); {
		var b drivers.Built
		if err := json.Unmarshal(sc.Bytes(), &b); err != nil {
			return nil, fail(ExitEnvironment, fmt.Errorf("rebuild: drivers build: %w", err))
		}
		built[b.Name] = b
	}
	return built, nil
}

// judgeRebuild prints one line a binary of the manifest.
func judgeRebuild(w io.Writer, c *capsule.Open, m artifacts.Manifest, built map[string]drivers.Built) error {
	want := map[string]string{drivers.Launch: m.Launch}
	for name, d := range m.Drivers {
		if d.SHA256 != "" {
			want[name] = d.SHA256
		}
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	var differ, absent []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		b, says := built[name], "equal"
		switch {
		case m.Drivers[name].Bound:
			says = "brought by the user: its source is not ours"
			absent = append(absent, name)
		case b.SHA256 == "":
			says = "not compiled here"
			if b.Skipped != "" {
				says = b.Skipped
			}
			absent = append(absent, name)
		case b.SHA256 != want[name]:
			says = "differs: " + b.SHA256
			differ = append(differ, name)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", name, want[name], says)
	}
	for _, text := range c.Missing {
		fmt.Fprintf(tw, "capsule\t\tlacks %s\n", text)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	switch {
	case len(differ) > 0:
		return fail(ExitNo, fmt.Errorf("rebuild: %s differ from the manifest (programs in C depend on this machine's gcc and C library)", strings.Join(differ, ", ")))
	case len(absent) > 0:
		return fail(ExitPartial, errors.New("rebuild: not compared: "+strings.Join(absent, ", ")))
	}
	return nil
}

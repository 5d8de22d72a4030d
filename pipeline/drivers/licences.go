package drivers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ownTerms stands before the licences of others. It names the parts whose terms ask for more than a copy of themselves: the LGPL for a notice
// and for the GPL, the FreeType License for its sentence.
const ownTerms = `Programs of this release consist of this project, of the Go modules named below and of the Go runtime and library. Pass this file on with
them. Three parts ask for more than that:

* launch is linked with the GNU C Library, which is used and covered under the LGPL, version 2.1 or later (https://www.gnu.org/licenses/lgpl-2.1.txt);
  its only source, containers/launch/launch.c, can be linked with another one.
* The driver kcp-go is linked, through github.com/xtaci/kcp-go, with github.com/juju/ratelimit as it was published, which is used and covered under the LGPL,
  version 3, with an exception for linking. Its text is below; the GNU GPL, version 3, to which it adds, is at https://www.gnu.org/licenses/gpl-3.0.txt.
* bench is linked with github.com/golang/freetype under the FreeType License (licenses/ftl.txt of that module), the first of its two licences: this
  software is based in part on the work of the FreeType Team.
`

// Licences returns the terms of everything that enters the Go programs of a release, from the checkout at root. A module without a licence
// is an error, because nobody may pass it on.
func Licences(ctx context.Context, root string) ([]byte, error) {
	packages := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./pipeline/cmd/bench"}
	for _, s := range table() {
		if s.pkg != "" {
			packages = append(packages, "./"+s.pkg)
		}
	}
	cmd := exec.CommandContext(ctx, "go", packages...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux")
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go list: %w", err)
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go env: %w", err)
	}
	out := bytes.NewBufferString(ownTerms)
	err = errors.Join(addTerms(out, "this project", root), addTerms(out, "Go", strings.TrimSpace(string(goroot))))
	seen := map[string]bool{}
	for line := range strings.Lines(string(listed)) {
		name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !seen[name] {
			seen[name] = true
			err = errors.Join(err, addTerms(out, name, dir))
		}
	}
	return out.Bytes(), err
}

var termsName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)

// addTerms copies every file of terms in the root of a module.
func addTerms(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("licence of %s: %w", name, err)
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !termsName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("licence of %s: %w", name, err)
		}
		fmt.Fprintf(out, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), bytes.TrimSpace(text))
		found = true
	}
	if !found {
		return fmt.Errorf("licence of %s: none in its root", name)
	}
	return nil
}

package drivers

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ownTerms stands before the licences of others. It names the parts whose terms ask for more than a copy of themselves: the LGPL for a notice
// and for the GPL, the FreeType License for its sentence.
const ownTerms = `Programs of this release consist of this project, of the Go modules named below and of the Go runtime and library. Pass this file on with
them. Three parts ask for more than that:

* launch is linked with the GNU C Library, which is used and covered under the LGPL, version 2.1 or later, whose text is at the end;
  its only source, containers/launch/launch.c, can be linked with another one.
* The driver kcp-go is linked, through github.com/xtaci/kcp-go, with github.com/juju/ratelimit as it was published, which is used and covered under the LGPL,
  version 3, with an exception for linking. Its text is below, that of the GNU GPL, version 3, to which it adds, at the end.
* bench is linked with github.com/golang/freetype under the FreeType License (licenses/ftl.txt of that module), the first of its two licences: this
  software is based in part on the work of the FreeType Team.
`

// The licences that the notices above refer to, as the Free Software Foundation publishes them.
//
//go:embed terms/*.txt
var referred embed.FS

// copyleft are modules whose terms ask for more than a copy, each dealt with in ownTerms. Another one must not slip in.
var copyleft = []string{"github.com/juju/ratelimit", "github.com/golang/freetype"}

// module is one module whose packages are linked.
type module struct {
	name, root string
	folders    []string // of its linked packages, and those between them and the root
}

// Licences returns the terms of everything that enters the Go programs of a release, from the checkout at root. A module without a licence
// is an error, because nobody may pass it on.
func Licences(ctx context.Context, root string) ([]byte, error) {
	modules, err := linked(ctx, root)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go env: %w", err)
	}
	out := bytes.NewBufferString(ownTerms)
	for _, m := range append([]*module{{name: "this project", root: root}, {name: "Go", root: strings.TrimSpace(string(goroot))}}, modules...) {
		err = errors.Join(err, m.addTerms(out))
	}
	for _, name := range []string{"terms/gpl-3.txt", "terms/lgpl-2.1.txt"} {
		text, readErr := referred.ReadFile(name)
		err = errors.Join(err, readErr)
		section(out, "referred to above", path.Base(name), text)
	}
	return out.Bytes(), err
}

// linked lists the modules of bench and of the Go drivers, in order of their first package.
func linked(ctx context.Context, root string) ([]*module, error) {
	words := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./pipeline/cmd/bench"}
	for _, s := range table() {
		if s.pkg != "" {
			words = append(words, "./"+s.pkg)
		}
	}
	cmd := exec.CommandContext(ctx, "go", words...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux")
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go list: %w", err)
	}
	var all []*module
	for line := range strings.Lines(string(listed)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue // the standard library, or this project
		}
		i := slices.IndexFunc(all, func(m *module) bool { return m.name == f[0] })
		if i < 0 {
			i, all = len(all), append(all, &module{name: f[0], root: f[1]})
		}
		all[i].use(f[2])
	}
	return all, nil
}

// use notes a linked package: code that was taken over from elsewhere may have terms of its own beside it.
func (m *module) use(dir string) {
	for ; dir != m.root && strings.HasPrefix(dir, m.root); dir = filepath.Dir(dir) {
		if !slices.Contains(m.folders, dir) {
			m.folders = append(m.folders, dir)
		}
	}
}

var (
	termsName    = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)
	copyleftText = regexp.MustCompile(`GNU\s+(LESSER\s+|AFFERO\s+)?GENERAL\s+PUBLIC\s+LICENSE|Mozilla Public License`)
)

// addTerms copies every file of terms in the root, in a folder of licences there, and beside linked packages.
func (m *module) addTerms(out *bytes.Buffer) error {
	found, err := m.addFolder(out, m.root, func(name string) bool { return termsName.MatchString(name) && !strings.HasSuffix(name, ".go") })
	if err == nil && found == 0 {
		err = fmt.Errorf("licence of %s: none in its root", m.name)
	}
	for _, dir := range []string{"licenses", "LICENSES"} {
		_, other := m.addFolder(out, filepath.Join(m.root, dir), func(name string) bool { return !strings.HasSuffix(name, ".go") })
		err = errors.Join(err, other)
	}
	for _, dir := range m.folders {
		_, other := m.addFolder(out, dir, func(name string) bool { return termsName.MatchString(name) && !strings.HasSuffix(name, ".go") })
		err = errors.Join(err, other)
	}
	return err
}

// addFolder copies the files of one folder that are wanted and counts them. A folder that is not there holds none.
func (m *module) addFolder(out *bytes.Buffer, dir string, wanted func(name string) bool) (found int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && (dir == m.root || !errors.Is(err, fs.ErrNotExist)) {
		return 0, fmt.Errorf("licence of %s: %w", m.name, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !wanted(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return found, fmt.Errorf("licence of %s: %w", m.name, err)
		}
		at, err := filepath.Rel(m.root, filepath.Join(dir, e.Name()))
		if err != nil {
			return found, fmt.Errorf("licence of %s: %w", m.name, err)
		}
		if err := m.known(text); err != nil {
			return found, err
		}
		section(out, m.name, filepath.ToSlash(at), text)
		found++
	}
	return found, nil
}

// known refuses a copyleft licence that nobody has dealt with.
func (m *module) known(text []byte) error {
	name, _, _ := strings.Cut(m.name, "@")
	if copyleftText.Match(text) && !slices.Contains(copyleft, name) {
		return fmt.Errorf("licence of %s: asks for more than a copy of itself; say in ownTerms how this release keeps it, or link another module", m.name)
	}
	return nil
}

func section(out *bytes.Buffer, name, file string, text []byte) {
	fmt.Fprintf(out, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, file, bytes.TrimSpace(text))
}

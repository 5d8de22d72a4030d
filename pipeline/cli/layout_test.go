package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topLevel is everything that may stand in the root of the repository.
var topLevel = strings.Fields(`magefile.go flake.nix containers pipeline transports analysis artifacts
	go.mod go.sum README.md docs nix tools .github .ci flake.lock flakehashes.json CONTRIBUTING.md LICENSE
	CHANGELOG.md SECURITY.md CITATION.cff .gitignore .golangci.yml`)

func TestTopLevelHoldsNothingElse(t *testing.T) {
	out, err := exec.Command("git", "-C", root(t), "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v (the layout test needs a git checkout)", err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		if first, _, _ := strings.Cut(name, "/"); !slices.Contains(topLevel, first) {
			t.Errorf("%s: the top level may not hold %q", name, first)
		}
	}
}

// module is the import path of this module with its slash.
const module = "transportbench/"

// layer is one rule of the import direction: packages below From may import of this module only what is below To, and
// their tests what is below Tests besides.
type layer struct {
	From, Why string
	To        []string
	Tests     []string
}

// layers lists every package tree; one that is in none of them fails the test.
var layers = []layer{
	{"transports/wire", "the contract stands alone", nil, nil},
	{"transports/echotest", "conformance sees a driver only through the contract", []string{"transports/wire", "transports/echotest"}, nil},
	{"transports/linksim", "a simulated network knows no transport", []string{"transports/linksim"}, nil},
	{"transports/raknet", "a library with a driver beside it", []string{"transports/wire", "transports/echo", "transports/raknet", "transports/linksim"}, []string{"transports/echotest"}},
	{"transports/kcp", "a C driver, tested through the contract", nil, []string{"transports/wire", "transports/echotest"}},
	{"transports/enet", "a C driver, tested through the contract", nil, []string{"transports/wire", "transports/echotest"}},
	{"transports", "transports never import the pipeline", []string{"transports/wire", "transports/echo", "transports/linksim", "transports/tcp", "transports/quic", "transports/kcpgo", "transports/udp", "transports/kcp"}, []string{"transports/echotest"}},
	{"containers", "the launcher's tests see the contract only", []string{"transports/wire", "containers"}, nil},
	{"pipeline/strictyaml", "a file format knows no contents", nil, nil},
	{"pipeline/matrix", "the experiment is data", []string{"transports/wire", "pipeline/strictyaml"}, nil},
	{"pipeline/link", "the link knows specs, not runs", []string{"pipeline/matrix", "pipeline/link"}, nil},
	{"pipeline/calibrate", "links are measured beside their specs", []string{"pipeline/matrix", "pipeline/link", "pipeline/calibrate", "analysis/stats"}, nil},
	{"pipeline/host", "a machine is described without knowing the experiment", []string{"pipeline/host"}, nil},
	{"pipeline/sandbox", "a runtime opens links and starts processes", []string{"pipeline/matrix", "pipeline/link", "pipeline/host", "pipeline/sandbox", "transports/wire"}, nil},
	{"pipeline/vm", "a virtual machine runs any command and knows no experiment", []string{"pipeline/vm"}, nil},
	{"pipeline/carry", "a program carries files and does not know what for", []string{"pipeline/carry"}, nil},
	{"pipeline/drivers", "drivers are files with a contract", []string{"transports/wire", "artifacts", "pipeline/drivers", "pipeline/matrix"}, nil},
	{"pipeline/capsule", "sources are packed and unpacked, not built", nil, nil},
	{"artifacts", "the format knows plans and records", []string{"pipeline/matrix", "pipeline/link", "transports/wire", "artifacts"}, nil},
	{"artifacts/anchor", "an authority sees a hash and nothing else", []string{"artifacts/anchor"}, nil},
	{"artifacts/oci", "publishing moves files that the format names; it judges no run", []string{"artifacts"}, nil},
	{"pipeline/images", "images are made of built drivers; the link and the experiment are not their matter", []string{"pipeline/drivers", "pipeline/images", "pipeline/strictyaml", "containers"}, nil},
	{"pipeline/runner", "the runner joins plan, runtime and artifact", []string{"pipeline/matrix", "pipeline/link", "pipeline/host", "pipeline/sandbox", "pipeline/drivers", "pipeline/runner", "artifacts", "analysis/stats", "transports/wire"}, nil},
	{"analysis/stats", "statistics know numbers only", nil, nil},
	{"analysis/summary", "summaries read artifacts; the band of losses has its one definition in link", []string{"analysis/stats", "analysis/summary", "artifacts", "pipeline/matrix", "pipeline/link", "transports/wire"}, nil},
	{"analysis/replication", "a replication compares summaries; how a summary is made is not its matter", []string{"analysis/stats", "analysis/summary", "artifacts", "pipeline/matrix"}, nil},
	{"analysis/report", "reports render summaries beside the facts of their artifact", []string{"analysis/stats", "analysis/summary", "analysis/replication", "artifacts", "pipeline/matrix", "transports/wire"}, []string{"pipeline/link"}},
	{"pipeline/cmd", "main calls cli", []string{"pipeline/cli"}, nil},
	{"pipeline/cli", "cli may import everything; nothing but main imports cli", []string{"transports", "pipeline", "analysis", "artifacts", "containers"}, nil},
}

// only lists foreign modules that a single package tree may import.
var only = []struct{ Import, In, Why string }{
	{"github.com/vishvananda/netlink", "pipeline/link", "the kernel's network is set in one place"},
	{"github.com/google/nftables", "pipeline/link", "the kernel's network is set in one place"},
	{"github.com/testcontainers/", "pipeline/sandbox", "containers are one runtime among others"},
	{"github.com/CycloneDX/", "pipeline/images", "what is in an image is listed where it is assembled"},
	{"github.com/digitorus/", "artifacts/anchor", "time-stamps are read in one place"},
	{"oras.land/oras-go/", "artifacts/oci", "registries are spoken to in one place"},
	{"gonum.org/v1/gonum/stat", "analysis/stats", "one definition per statistic"},
	{"gonum.org/v1/plot", "analysis/report", "plots are rendering"},
}

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		rule := ruleFor(from)
		if rule == nil {
			t.Errorf("%s: no layer names this package", from)
			continue
		}
		for _, imp := range p.Imports {
			checkImport(t, from, imp, rule.Why, rule.To)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			checkImport(t, from, imp, rule.Why, slices.Concat(rule.To, rule.Tests))
		}
	}
}

func checkImport(t *testing.T, from, imp, why string, allowed []string) {
	for _, o := range only {
		if strings.HasPrefix(imp, o.Import) && !below(from, o.In) {
			t.Errorf("%s imports %s: only %s may, because %s", from, imp, o.In, o.Why)
		}
	}
	to, ours := strings.CutPrefix(imp, module)
	if !ours || to == from || slices.ContainsFunc(allowed, func(dir string) bool { return below(to, dir) }) {
		return
	}
	t.Errorf("%s imports %s: %s", from, to, why)
}

// ruleFor finds the most specific layer of a package.
func ruleFor(from string) *layer {
	var best *layer
	for i, l := range layers {
		if below(from, l.From) && (best == nil || len(l.From) > len(best.From)) {
			best = &layers[i]
		}
	}
	return best
}

func below(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

func packages(t *testing.T) []pkg {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

package link

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"strings"
)

// moduleState is where a kernel feature stands, as far as files tell. Whether it works is decided by trying, never by this.
type moduleState int

const (
	moduleUnknown      moduleState = iota // no files to read
	moduleBuiltIn                         // part of the kernel image
	modulePresent                         // a loadable file is there
	moduleNotInstalled                    // built for this kernel, but its file is in a package that is missing
	moduleNotBuilt                        // the kernel's configuration leaves it out
)

// feature is a part of the kernel: its module and its configuration option.
type feature struct{ module, option string }

// features are what each backend stands on.
var features = map[string]feature{
	BackendNetem:   {"sch_netem", "CONFIG_NET_SCH_NETEM"},
	BackendNFT:     {"nf_tables", "CONFIG_NF_TABLES"},
	BackendNFQueue: {"nfnetlink_queue", "CONFIG_NETFILTER_NETLINK_QUEUE"},
}

// findModule looks a feature up in the files of a running kernel; root is the file system.
func findModule(root fs.FS, release string, f feature) moduleState {
	dir := path.Join("lib/modules", release)
	file := "/" + f.module + ".ko"
	if listed(root, path.Join(dir, "modules.builtin"), file) {
		return moduleBuiltIn
	}
	if listed(root, path.Join(dir, "modules.dep"), file) {
		return modulePresent
	}
	switch config, ok := kernelConfig(root, release); {
	case !ok:
		return moduleUnknown
	case strings.Contains(config, "\n"+f.option+"=y"):
		return moduleBuiltIn
	case strings.Contains(config, "\n"+f.option+"=m"):
		return moduleNotInstalled
	}
	return moduleNotBuilt
}

// listed tells whether a module list has a line whose first word ends in the file, compressed or not.
func listed(root fs.FS, name, file string) bool {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		first, _, _ := strings.Cut(lines.Text(), ":")
		if strings.HasSuffix("/"+first, file) || strings.Contains("/"+first, file+".") {
			return true
		}
	}
	return false
}

// kernelConfig returns the configuration of the running kernel, from the first place that has it.
func kernelConfig(root fs.FS, release string) (string, bool) {
	if packed, err := root.Open("proc/config.gz"); err == nil {
		defer packed.Close()
		if plain, err := gzip.NewReader(packed); err == nil {
			if text, err := io.ReadAll(plain); err == nil {
				return "\n" + string(text), true
			}
		}
	}
	for _, name := range []string{"boot/config-" + release, path.Join("lib/modules", release, "config")} {
		if text, err := fs.ReadFile(root, name); err == nil {
			return "\n" + string(text), true
		}
	}
	return "", false
}

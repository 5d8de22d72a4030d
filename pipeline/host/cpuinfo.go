package host

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CPU describes the processors of a machine.
type CPU struct {
	Vendor      string            `json:"vendor"`
	Model       string            `json:"model"`
	Microcode   string            `json:"microcode"`
	Online      Count             `json:"online"` // logical CPUs
	Cores       Count             `json:"cores"`  // distinct cores among them
	Packages    Count             `json:"packages"`
	SMT         string            `json:"smt"` // on, off, forceoff, notsupported, notimplemented
	Governor    string            `json:"governor"`
	Driver      string            `json:"frequency_driver"`
	Boost       string            `json:"boost"`   // on, off
	MinKHz      Count             `json:"min_khz"` // of CPU 0
	MaxKHz      Count             `json:"max_khz"`
	Isolated    string            `json:"isolated"` // none, or a CPU list
	Mitigations map[string]string `json:"mitigations"`
}

const cpuDir = "sys/devices/system/cpu"

func readCPU(root fs.FS) CPU {
	c := parseCPUInfo(open(root, "proc/cpuinfo"))
	c.Cores, c.Packages = countCores(root)
	c.SMT = text(root, cpuDir+"/smt/control")
	c.Governor = distinct(root, cpuDir+"/cpu[0-9]*/cpufreq/scaling_governor")
	c.Driver = distinct(root, cpuDir+"/cpu[0-9]*/cpufreq/scaling_driver")
	c.Boost = boost(root)
	c.MinKHz = number(root, cpuDir+"/cpu0/cpufreq/cpuinfo_min_freq")
	c.MaxKHz = number(root, cpuDir+"/cpu0/cpufreq/cpuinfo_max_freq")
	c.Isolated = Unknown
	if exists(root, cpuDir+"/isolated") {
		if c.Isolated = text(root, cpuDir+"/isolated"); c.Isolated == Unknown {
			c.Isolated = "none" // the file is there and empty
		}
	}
	c.Mitigations = map[string]string{}
	files, _ := fs.Glob(root, cpuDir+"/vulnerabilities/*")
	for _, f := range files {
		c.Mitigations[path.Base(f)] = text(root, f)
	}
	if len(files) == 0 {
		c.Mitigations["all"] = Unknown
	}
	return c
}

// parseCPUInfo reads /proc/cpuinfo. x86 names the model; ARM gives numbers, which stand in the model's place.
func parseCPUInfo(r io.Reader) CPU {
	first := map[string]string{}
	var online int64
	lines(r, func(line string) {
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			return
		}
		if key == "processor" {
			online++
		}
		if _, seen := first[key]; !seen {
			first[key] = value
		}
	})
	c := CPU{
		Vendor: orUnknown(first["vendor_id"]), Model: orUnknown(first["model name"]), Microcode: orUnknown(first["microcode"]),
	}
	if online > 0 {
		c.Online = Known(online)
	}
	if v := first["CPU implementer"]; v != "" {
		c.Vendor = "ARM implementer " + v
	}
	if v := first["CPU part"]; v != "" && c.Model == Unknown {
		c.Model = strings.TrimSpace("part " + v + " variant " + first["CPU variant"] + " revision " + first["CPU revision"])
	}
	return c
}

// countCores counts distinct sibling lists of the online CPUs and distinct packages.
func countCores(root fs.FS) (cores, packages Count) {
	return countDistinct(root, cpuDir+"/cpu[0-9]*/topology/thread_siblings_list"),
		countDistinct(root, cpuDir+"/cpu[0-9]*/topology/physical_package_id")
}

func countDistinct(root fs.FS, pattern string) Count {
	values := distinctList(root, pattern)
	if len(values) == 0 {
		return Count{}
	}
	return Known(int64(len(values)))
}

// distinct joins the different values of one file of every CPU: "performance", or "powersave schedutil" where they differ.
func distinct(root fs.FS, pattern string) string {
	return orUnknown(strings.Join(distinctList(root, pattern), " "))
}

// distinctList leaves out -1, which is how the kernel says that it does not know a package.
func distinctList(root fs.FS, pattern string) []string {
	files, _ := fs.Glob(root, pattern)
	var values []string
	for _, f := range files {
		if v := text(root, f); v != Unknown && v != "-1" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// boost reads the switch of acpi-cpufreq and amd-pstate, or the reversed one of intel_pstate.
func boost(root fs.FS) string {
	if v := text(root, cpuDir+"/cpufreq/boost"); v == "0" || v == "1" {
		return onOff(v == "1")
	}
	if v := text(root, cpuDir+"/intel_pstate/no_turbo"); v == "0" || v == "1" {
		return onOff(v == "0")
	}
	return Unknown
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/analysis/summary/summarytest"
)

// TestCompareRefusesEmulation: a flag that was taken away does not make a measurement of what software emulated.
func TestCompareRefusesEmulation(t *testing.T) {
	base := invented(t, summarytest.Spec{Selection: pair(5), Noise: 0.005})
	for name, vm := range map[string]map[string]any{
		"marked":    {"accelerator": "tcg", "functional_only": true},
		"unmarked":  {"accelerator": "tcg", "functional_only": false},
		"unknown":   {"functional_only": false},
		"mark only": {"accelerator": "kvm", "functional_only": true},
	} {
		dir := filepath.Join(t.TempDir(), "artifact")
		must(t, os.CopyFS(dir, os.DirFS(base)))
		f := openForger(t, dir)
		f.manifest["vm"] = vm
		f.close()
		for _, args := range [][]string{{"compare", dir, base}, {"compare", base, dir}} {
			if code, out, errs := bench(args...); code != ExitUsage || !strings.Contains(errs, "functional only") || out != "" {
				t.Errorf("%s: exit %d: %s%s", name, code, out, errs)
			}
		}
	}
}

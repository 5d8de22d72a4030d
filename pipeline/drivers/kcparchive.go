package drivers

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// KCPArchive is the file in which a build keeps the archive that the pins name; empty when the pins cannot be read. It need not exist.
func KCPArchive(pinsFile string) string {
	var pins struct {
		KCP kcpPin `json:"kcp"`
	}
	b, err := os.ReadFile(pinsFile)
	if err != nil || json.Unmarshal(b, &pins) != nil {
		return ""
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "transportbench", "kcp", pins.KCP.Commit, "archive.tar.gz")
}

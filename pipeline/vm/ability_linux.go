package vm

import (
	"context"
	"os"
	"path/filepath"
)

// Ability says in one line what a machine would be made of here, or what it lacks. Nothing is booted and nothing is downloaded: whether
// KVM works shows at the first boot.
func Ability(ctx context.Context, pins string) string {
	version, err := qemuVersion(ctx)
	if err != nil {
		return "no: " + err.Error()
	}
	p, err := readPin(pins)
	if err != nil {
		return "no: " + err.Error()
	}
	where := "to be downloaded with apt-get"
	if base, err := os.UserCacheDir(); err == nil && exists(filepath.Join(base, cacheName, p.SHA256)) {
		where = "in the cache"
	}
	accel := "software emulation (functional only)"
	if exists("/dev/kvm") {
		accel = "KVM if a guest comes up with it, else " + accel
	}
	return version + "; kernel " + p.Package + " " + p.Version + " " + where + "; " + accel
}

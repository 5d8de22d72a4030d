package link

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/matrix"
)

// TestNoPermission gives CAP_NET_ADMIN away and wants to hear that, not that a module is missing: the kernel refuses before it looks.
func TestNoPermission(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		runtime.LockOSThread() // never unlocked: the thread ends with the capability that it gave away
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&head, &data[0]); err != nil {
			t.Fatal(err)
		}
		for _, set := range []*uint32{&data[0].Effective, &data[0].Permitted, &data[0].Inheritable} {
			*set &^= 1 << unix.CAP_NET_ADMIN
		}
		if err := unix.Capset(&head, &data[0]); err != nil {
			t.Fatal(err)
		}
		a, err := Apply(context.Background(), matrix.LinkSpec{LossPPM: 10_000}, Options{Backend: BackendNetem, Port: testPort})
		var u *UnsupportedError
		if a != nil || !errors.As(err, &u) || !strings.HasPrefix(u.Missing, "no permission") || u.Fix == "" {
			t.Errorf("without CAP_NET_ADMIN: %v, %v", a, err)
		}
		t.Log(err)
	})
}

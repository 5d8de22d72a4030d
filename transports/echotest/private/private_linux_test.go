package private

import (
	"net"
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Tests(m)) }

func TestOnlyLoopbackIsHere(t *testing.T) {
	if os.Getenv(marker) == "" {
		t.Skip("unsupported: user or network namespaces are not available here")
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Errorf("interface %s is up in a private network", i.Name)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:20000")
	if err != nil {
		t.Fatalf("a fixed port is not free: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

package kcp

import (
	"net"
	"testing"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/wire"
)

func runConfig(payload, messages int) wire.Config {
	c := wire.Default()
	c.Payload, c.Messages, c.Warmup, c.Samples, c.Deadline = payload, messages, 2, 10, drivertest.RunLimit
	return c
}

// loopbackSocket is a UDP socket on a free port, closed with the test.
func loopbackSocket(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

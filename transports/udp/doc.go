//go:build linux

// Package udp is the reference of the machine: a raw UDP echo without repair, on locked threads with recvmmsg and sendmmsg.
//
// It keeps the driver contract but not the interface of transports/echo, because a lost echo is counted here instead of repaired.
package udp

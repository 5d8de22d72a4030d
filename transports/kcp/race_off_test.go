//go:build !race

package kcp

const raceEnabled = false

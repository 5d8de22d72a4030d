//go:build race

package kcp

// raceEnabled says that the tests run under the race detector.
const raceEnabled = true

//go:build race

package enet

// raceEnabled: the race detector has nothing to find in a C program, so that run keeps to the shortest checks.
const raceEnabled = true

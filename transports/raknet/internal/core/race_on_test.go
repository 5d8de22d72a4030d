//go:build race

package core

// raceEnabled shortens simulations under the race detector, which has nothing to find in a package without goroutines.
const raceEnabled = true

// Package host says what machine this is and what disturbed it: an environment captured once and counters read around every
// run. What a kernel does not tell is "unknown", never a zero and never "ok".
//
// It reads /proc and /sys through an fs.FS rooted at "/", so the same code runs on recorded files on every system.
package host

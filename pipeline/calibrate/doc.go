// Package calibrate measures what each link backend really does on this machine, side by side, and writes it down.
package calibrate

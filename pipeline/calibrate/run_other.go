//go:build !linux

package calibrate

import (
	"context"
	"fmt"
	"runtime"
)

// Run refuses: links are impaired on Linux only.
func Run(context.Context, Options, func(string)) (*Report, error) {
	return nil, fmt.Errorf("calibration needs Linux, this is %s", runtime.GOOS)
}

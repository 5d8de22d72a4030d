// Package containers holds what is in each image, so that a bench without a checkout can make them.
package containers

import "embed"

// Files is this folder as far as it is compiled in: images.yaml.
//
//go:embed images.yaml
var Files embed.FS

// Command convert turns the published tables, given as data, into an artifact of kind reference. It ran once; it stays so that anyone can
// run it again: go run ./artifacts/reference/convert CELLS.json CLAIMS.json FOLDER.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "convert: want CELLS.json CLAIMS.json FOLDER")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

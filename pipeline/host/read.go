package host

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"strings"
)

// maxLine bounds a line of /proc in bytes; the intr line of /proc/stat is the longest, about 20 bytes an interrupt.
const maxLine = 1 << 20

// lines calls do for every line of r. Lines over maxLine end the reading: what follows stays unknown.
func lines(r io.Reader, do func(line string)) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), maxLine)
	for sc.Scan() {
		do(sc.Text())
	}
}

// open returns the file's content as a reader, empty where there is no such file or no right to read it.
func open(root fs.FS, path string) io.Reader {
	b, err := fs.ReadFile(root, path)
	if err != nil {
		return bytes.NewReader(nil)
	}
	return bytes.NewReader(b)
}

// text returns a file's content in one line, "unknown" where there is none.
func text(root fs.FS, path string) string {
	b, err := fs.ReadFile(root, path)
	if err != nil {
		return Unknown
	}
	return orUnknown(strings.Join(strings.Fields(string(b)), " "))
}

// number returns the decimal number a file holds.
func number(root fs.FS, path string) Count { return parseCount(text(root, path)) }

func exists(root fs.FS, path string) bool {
	_, err := fs.Stat(root, path)
	return err == nil
}

func orUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}

package wire

import (
	"flag"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The specification must name every flag and every field of every record.
func TestReadmeIsComplete(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	c := Default()
	c.flags(io.Discard).VisitAll(func(f *flag.Flag) {
		if !strings.Contains(text, "`-"+f.Name+"`") {
			t.Errorf("flag -%s is not in README.md", f.Name)
		}
	})
	for _, r := range []any{
		Describe{}, Limits{}, Hello{}, Settings{}, Ready{}, Connected{}, Start{}, Connections{}, ConnResult{}, Result{}, Quantiles{}, Done{}, Error{}, Exit{},
	} {
		for i := range reflect.TypeOf(r).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(r).Field(i).Tag.Get("json"), ",")
			if !strings.Contains(text, name) {
				t.Errorf("field %s of %T is not in README.md", name, r)
			}
		}
	}
}

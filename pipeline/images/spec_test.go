package images

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"transportbench/containers"
	"transportbench/pipeline/drivers"
)

// The file of this repository names every driver once; enet is linked to the system's library and cannot be in an image.
func TestEveryDriverHasAnImage(t *testing.T) {
	s, err := Load(containers.Files)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(append([]string{Holder}, drivers.Names()...), func(n string) bool { return n == drivers.Enet })
	if got := s.Names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWrongFilesNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown field", "owner: 65534", "ownr: 65534", `images.yaml:3: unknown field "ownr"`},
		{"unknown field of a file", "{path: /bench, from: bench}", "{path: /bench, form: bench}", `images.yaml:14: unknown field "form"`},
		{"other schema", "schema: 1", "schema: 2", "images.yaml:1: schema: is 2, this program reads schema 1"},
		{"path up", "{path: /launch,", "{path: /../launch,", `images.yaml:21: images[1].files[0].path: "/../launch" is not a path here`},
		{"relative path", "{path: /launch,", "{path: launch,", `images.yaml:21: images[1].files[0].path: "launch" is not a path here`},
		{"nested path", "{path: /launch,", "{path: /bin/launch,", `images.yaml:21: images[1].files[0].path`},
		{"volume up", "[/results]", "[/..]", `images.yaml:23: images[1].volumes[0]: "/.." is not a path here`},
		{"absolute source", "from: driver}", "from: /etc/passwd}", `images.yaml:22: images[1].files[1].from: "/etc/passwd" is not a file of the drivers folder`},
		{"source up", "from: driver}", "from: ../../etc/passwd}", `images.yaml:22: images[1].files[1].from: "../../etc/passwd" is not`},
		{"duplicate path", "{path: /driver,", "{path: /launch,", "images.yaml:22: images[1].files[1].path: duplicate path /launch"},
		{"file and volume", "[/results]", "[/driver]", "images.yaml:23: images[1].volumes[0]: duplicate path /driver"},
		{"duplicate image", "[tcp, udp]", "[tcp, holder]", "images.yaml:15: images[1].names[1]: duplicate image holder"},
		{"bad name", "[tcp, udp]", "[tcp, UDP]", `images.yaml:15: images[1].names[1]: "UDP" is not a name`},
		{"no names", "[tcp, udp]", "[]", "images.yaml:15: images[1].names: has 0 names"},
		{"bound twice", "user: 0\n", "user: 0\n    bound: true\n", "images.yaml:18: images[1].bound: one entry is for bound drivers already"},
		{"entrypoint", "[/launch]", "[/bin/sh]", `images.yaml:19: images[1].entrypoint[0]: "/bin/sh" is no file of this image`},
		{"entrypoint is a volume", "[/launch]", "[/results]", `images.yaml:19: images[1].entrypoint[0]: "/results" is no file`},
		{"no time", "1970-01-01T00:00:00Z", "now", `images.yaml:4: created: "now" is not a time`},
		{"a local time", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00+01:00", "images.yaml:4: created:"},
		{"repository", "repository: tb", "repository: TB:latest", `images.yaml:2: repository: "TB:latest" is not the name of a repository`},
		{"huge user", "user: 65534", "user: 4294967296", "images.yaml:18: images[1].user: is 4294967296"},
		{"negative owner", "owner: 65534", "owner: -1", "images.yaml:3: owner: is -1"},
		{"text for a number", "owner: 65534", "owner: nobody", "images.yaml:3: want an integer, found nobody"},
		{"no licence", "licenses: MIT\n", "", "images.yaml:1: licenses: want 1 to 200 bytes"},
		{"anchor", "source: here", "source: &x here", "images.yaml:5: empty values, anchors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(specText, c.old) {
				t.Fatalf("case does not apply: %q", c.old)
			}
			text := strings.Replace(specText, c.old, c.new, 1)
			_, err := Load(fstest.MapFS{File: {Data: []byte(text)}})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := Load(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "images.yaml") {
		t.Errorf("no file: %v", err)
	}
}

func FuzzSpec(f *testing.F) {
	f.Add([]byte(specText))
	f.Add([]byte("schema: 1\nimages: [{names: [a], files: [{path: /a, from: ..}]}]\n"))
	f.Add([]byte("images: [{names: [a], entrypoint: []}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), File+":") {
				t.Errorf("got %q, want one line that names the file", err)
			}
			return
		}
		for _, n := range s.Names() {
			l, ok := s.layoutOf(n, false)
			if !ok || len(l.entrypoint) == 0 || len(l.files) == 0 {
				t.Errorf("image %q of an accepted file: %+v", n, l)
			}
			for _, p := range l.files {
				if !strings.HasPrefix(p.path, "/") || strings.Contains(p.path+p.from, "..") || strings.Contains(p.from, "/") {
					t.Errorf("%q leaves its folder", p)
				}
			}
		}
	})
}

package oci

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func layoutRef(t testing.TB, dir, tag string) Ref {
	return parse(t, "oci-layout:"+dir+":"+tag)
}

func TestLayoutRoundTrip(t *testing.T) {
	dir, lay := artifact(t, 1<<20), t.TempDir()
	p := push(t, dir, Ref{Layout: lay}, PushOptions{Verdict: Verdict{Commit: "abc", Allowed: []string{"dirty"}}})
	if p.Ref.Tag != id {
		t.Errorf("tag %q, want the artifact's id", p.Ref.Tag)
	}
	got := bringsBack(t, layoutRef(t, lay, id), dir)
	if got.Allowed != "dirty" || got.Ref.Digest != p.Ref.Digest || got.Statement == nil {
		t.Errorf("%+v, pushed as %s", got, p.Ref.Digest)
	}
	bringsBack(t, Ref{Layout: lay, Digest: p.Ref.Digest}, dir)
}

// The digest depends on bytes only, and what is there already is not sent again.
func TestSameInputSameDigest(t *testing.T) {
	dir, other := artifact(t, 4096), filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.CopyFS(other, os.DirFS(dir)))
	must(t, os.Chtimes(filepath.Join(other, "manifest.json"), day, day))
	lay := t.TempDir()
	first, second := push(t, dir, Ref{Layout: lay}, PushOptions{}), push(t, other, Ref{Layout: lay}, PushOptions{})
	if first.Ref != second.Ref || first.Statement != second.Statement {
		t.Errorf("%+v, then %+v", first, second)
	}
	if first.Sent == 0 || second.Sent != 0 {
		t.Errorf("sent %d, then %d, want some and none", first.Sent, second.Sent)
	}
}

func TestTagIsNotMovedUnasked(t *testing.T) {
	one, two, lay := artifact(t, 16), artifact(t, 32), t.TempDir()
	first := push(t, one, layoutRef(t, lay, "x"), PushOptions{})
	_, err := impatient().Push(context.Background(), two, layoutRef(t, lay, "x"), PushOptions{})
	if !errors.Is(err, ErrTagTaken) || !strings.Contains(err.Error(), first.Ref.Digest) || !strings.Contains(err.Error(), "--move-tag") {
		t.Fatalf("%v, want the tag to be taken", err)
	}
	bringsBack(t, layoutRef(t, lay, "x"), one)
	push(t, two, layoutRef(t, lay, "x"), PushOptions{MoveTag: true})
	bringsBack(t, layoutRef(t, lay, "x"), two)
	bringsBack(t, first.Ref, one)
}

func types(all []Referrer) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Type)
	}
	return slices.Sorted(slices.Values(out))
}

// checkGathers attaches a replication and a capsule and finds them by the original.
func checkGathers(t *testing.T, place Ref) {
	t.Helper()
	ctx := context.Background()
	capsule := filepath.Join(t.TempDir(), CapsuleFile)
	must(t, os.WriteFile(capsule, []byte("sources"), 0o644))
	original := artifact(t, 16)
	replica := replication(t, original)
	at := func(tag string) Ref { r := place; r.Tag, r.Digest = tag, ""; return r }
	first := push(t, original, at("first"), PushOptions{Capsule: capsule})
	to := at("first")
	second := push(t, replica, at("second"), PushOptions{AttachTo: &to})
	ref, all, err := impatient().Referrers(ctx, at("first"))
	must(t, err)
	if want := []string{StatementType, ArtifactType, CapsuleType}; ref.Digest != first.Ref.Digest || !slices.Equal(types(all), want) {
		t.Errorf("%s: %v, want %v", ref, types(all), want)
	}
	if !slices.ContainsFunc(all, func(r Referrer) bool { return r.Digest == second.Ref.Digest && r.ID == id && r.Kind == "custom" }) {
		t.Errorf("the replication %s is not among %+v", second.Ref.Digest, all)
	}
	bringsBack(t, at("second"), replica)
	file, err := impatient().PullCapsule(ctx, at("first"), filepath.Join(t.TempDir(), "capsule"))
	must(t, err)
	if b, err := os.ReadFile(file); err != nil || string(b) != "sources" {
		t.Errorf("capsule %q %v", b, err)
	}
	if _, err := impatient().PullCapsule(ctx, at("second"), filepath.Join(t.TempDir(), "capsule")); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, want no capsule", err)
	}
}

func TestReferrersGather(t *testing.T) { checkGathers(t, Ref{Layout: t.TempDir()}) }

func TestAttachOnlyToArtifactsOfTheSamePlace(t *testing.T) {
	dir, lay := artifact(t, 16), t.TempDir()
	first := push(t, dir, layoutRef(t, lay, "x"), PushOptions{})
	for what, c := range map[string]struct {
		to   Ref
		want string
	}{
		"a stranger":    {layoutRef(t, lay, "x"), "does not say that it replicates it"},
		"another place": {layoutRef(t, t.TempDir(), "x"), "its own repository"},
		"nothing there": {layoutRef(t, lay, "y"), "not there"},
		"a statement":   {Ref{Layout: lay, Digest: first.Statement}, "no artifact of bench"},
	} {
		if _, err := impatient().Push(context.Background(), dir, layoutRef(t, lay, "z"), PushOptions{AttachTo: &c.to}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// The statement has the form that the in-toto attestation framework asks for, and names what was pushed.
func TestStatementForm(t *testing.T) {
	dir, lay := artifact(t, 16), t.TempDir()
	p := push(t, dir, layoutRef(t, lay, "x"), PushOptions{Verdict: Verdict{Findings: 3}})
	src, err := openLayout(lay)
	must(t, err)
	defer src.close()
	_, m, err := find(context.Background(), src, Ref{Layout: lay, Digest: p.Statement})
	must(t, err)
	if len(m.Layers) != 1 || m.Layers[0].MediaType != StatementType || m.Subject == nil || m.Subject.Digest.String() != p.Ref.Digest {
		t.Fatalf("%+v", m)
	}
	b, err := os.ReadFile(filepath.Join(lay, "blobs", "sha256", m.Layers[0].Digest.Encoded()))
	must(t, err)
	var s map[string]any
	must(t, json.Unmarshal(b, &s))
	if got := slices.Sorted(maps.Keys(s)); !slices.Equal(got, []string{"_type", "predicate", "predicateType", "subject"}) {
		t.Errorf("members %v", got)
	}
	subject := s["subject"].([]any)[0].(map[string]any)
	if s["_type"] != "https://in-toto.io/Statement/v1" || subject["name"] != id || "sha256:"+subject["digest"].(map[string]any)["sha256"].(string) != p.Ref.Digest {
		t.Errorf("%s", b)
	}
	if verified := s["predicate"].(map[string]any)["verified"].(map[string]any); verified["findings"] != 3.0 {
		t.Errorf("verdict %v", verified)
	}
}

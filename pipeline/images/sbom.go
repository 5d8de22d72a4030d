package images

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"transportbench/pipeline/drivers"
)

// sbomVersion is fixed so that a newer library does not change a list.
const sbomVersion = cdx.SpecVersion1_6

// WriteSBOM writes the list of contents in the JSON form of CycloneDX 1.6: every file with its digest, below it the modules of a Go
// program, or the sources, core, compiler and library of a C program. It has no time and no serial number: the same image, the same list.
func (i Image) WriteSBOM(w io.Writer) error {
	if i.image == nil {
		return fmt.Errorf("image %s: no list of contents: %s", i.Name, i.Missing)
	}
	files := []cdx.Component{}
	for _, l := range i.Layers {
		if l.SizeBytes > 0 {
			files = append(files, l.component())
		}
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: i.ConfigDigest, Type: cdx.ComponentTypeContainer, Name: i.Name, Version: i.ConfigDigest,
		Properties: properties("manifest", i.ManifestDigest, "sources:tree", i.tree(), "architecture", i.arch),
	}}
	bom.Components = &files
	if err := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, sbomVersion); err != nil {
		return fmt.Errorf("image %s: list of contents: %w", i.Name, err)
	}
	return nil
}

func (l Layer) component() cdx.Component {
	sum := sha256.Sum256(l.binary.content)
	c := cdx.Component{
		BOMRef: l.Path, Type: cdx.ComponentTypeFile, Name: l.Path,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: properties("layer", l.DiffID, "toolchain", l.Toolchain),
	}
	parts := cParts(l.binary.recipe)
	if l.binary.info != nil {
		parts = goParts(l.binary.info)
	}
	for n := range parts {
		parts[n].BOMRef = l.Path + "#" + parts[n].Name
	}
	c.Components = &parts
	return c
}

// goParts are the standard library and every module that the linker put into a Go program.
func goParts(info *debug.BuildInfo) []cdx.Component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cdx.Component{{Type: cdx.ComponentTypeLibrary, Name: "std", Version: version, PackageURL: "pkg:golang/std@" + version}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + m.Path + "@" + m.Version, Properties: properties("go:sum", m.Sum),
		})
	}
	return parts
}

// cParts are core, C library and every source of a C program. A git id is no hash of the content alone, so it is a property.
func cParts(r drivers.Recipe) []cdx.Component {
	parts := []cdx.Component{}
	if r.Core != "" {
		core := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "kcp", Version: r.Core}
		if !strings.Contains(r.Core, "-") { // a commit of the official repository
			core.PackageURL = "pkg:github/skywind3000/kcp@" + r.Core
		}
		parts = append(parts, core)
	}
	for tool := range strings.SplitSeq(r.CToolchain, ", ") {
		if version, ok := strings.CutPrefix(tool, "glibc "); ok {
			number, _, _ := strings.Cut(version, " ")
			parts = append(parts, cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "glibc", Version: number, Properties: properties("built", tool)})
		}
	}
	for _, f := range r.Files {
		parts = append(parts, cdx.Component{Type: cdx.ComponentTypeFile, Name: f.Path, Properties: properties("git:blob", f.ID)})
	}
	return parts
}

// properties pairs names and values; what is empty is left out.
func properties(pairs ...string) *[]cdx.Property {
	var all []cdx.Property
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n+1] != "" {
			all = append(all, cdx.Property{Name: "transportbench:" + pairs[n], Value: pairs[n+1]})
		}
	}
	if all == nil {
		return nil
	}
	return &all
}

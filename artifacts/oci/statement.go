package oci

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"transportbench/artifacts"
)

// Types of the in-toto statement that is attached to every artifact, see artifacts/README.md.
const (
	statementType = "https://in-toto.io/Statement/v1" // in-toto attestation framework, spec/v1/statement.md
	PredicateType = "https://transportbench.invalid/predicate/result/v1"
)

// Verdict is what bench verify said of an artifact before it was published.
type Verdict struct {
	Commit   string   `json:"commit"`   // of the bench that verified; empty: unknown
	Analysis int      `json:"analysis"` // version of the derived files
	Findings int      `json:"findings"`
	Absent   int      `json:"absent"`            // samples and logs that are not published
	Allowed  []string `json:"allowed,omitempty"` // refusals that the publisher overrode by flag
}

// Statement is an in-toto statement, version 1, about one artifact.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is what a statement is about.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate says what was measured, with what, and how it was judged.
type Predicate struct {
	ID           string              `json:"id"`
	Kind         string              `json:"kind"`
	Matrix       artifacts.MatrixRef `json:"matrix"`
	PlanHash     string              `json:"plan_hash"`
	Code         artifacts.Code      `json:"code"`
	Drivers      map[string]string   `json:"drivers"`            // SHA-256 by name
	Environment  string              `json:"environment_sha256"` // of measured_on, as manifest.json has it without white space
	Runtime      string              `json:"runtime"`
	Placement    string              `json:"placement"`
	LinkBackends map[string]string   `json:"link_backends"`
	Planned      int                 `json:"planned"`
	OK           int                 `json:"ok"`
	Failed       int                 `json:"failed"`
	Unsupported  int                 `json:"unsupported"`
	NotRun       int                 `json:"not_run"`
	JournalHead  string              `json:"journal_head"`
	Seal         string              `json:"seal_sha256"` // of SHA256SUMS: covers every measured file, samples too
	Verified     Verdict             `json:"verified"`
}

// NewStatement makes the statement about the artifact that has the OCI digest; seal are the bytes of its SHA256SUMS.
func NewStatement(m artifacts.Manifest, d digest.Digest, seal []byte, v Verdict) (Statement, error) {
	var env bytes.Buffer
	if len(m.MeasuredOn) > 0 {
		if err := json.Compact(&env, m.MeasuredOn); err != nil {
			return Statement{}, fmt.Errorf("manifest.json: measured_on: %w", err)
		}
	}
	drivers := map[string]string{}
	for name, ref := range m.Drivers {
		if ref.SHA256 != "" {
			drivers[name] = ref.SHA256
		}
	}
	return Statement{
		Type: statementType, PredicateType: PredicateType,
		Subject: []Subject{{Name: m.ID, Digest: map[string]string{"sha256": d.Encoded()}}},
		Predicate: Predicate{
			ID: m.ID, Kind: m.Kind, Matrix: m.Matrix, PlanHash: m.PlanHash, Code: m.Code, Drivers: drivers,
			Environment: digest.FromBytes(env.Bytes()).Encoded(), Runtime: m.Runtime, Placement: m.Placement.Label, LinkBackends: m.LinkBackends,
			Planned: m.Planned, OK: m.OK, Failed: m.Failed, Unsupported: m.Unsupported, NotRun: m.NotRun,
			JournalHead: m.Head, Seal: digest.FromBytes(seal).Encoded(), Verified: v,
		},
	}, nil
}

// pack makes the manifest that refers to the artifact and carries the statement.
func (s Statement) pack(subjectOf ocispec.Descriptor, created string) (*folder, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	f := &folder{files: map[digest.Digest]string{}, memory: map[digest.Digest][]byte{}}
	d := ocispec.Descriptor{MediaType: StatementType, Digest: digest.FromBytes(b), Size: int64(len(b)), Annotations: map[string]string{annotationPred: PredicateType}}
	f.memory[d.Digest] = b
	subject := bare(subjectOf)
	return f, f.seal([]ocispec.Descriptor{d}, about{kind: StatementType, subject: &subject, annotations: map[string]string{
		annotationPred: PredicateType, ocispec.AnnotationCreated: created,
	}})
}

// bare keeps what names content.
func bare(d ocispec.Descriptor) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size}
}

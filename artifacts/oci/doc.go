// Package oci moves sealed artifacts between folders and OCI registries or layout folders, byte for byte.
//
// An artifact becomes one image manifest (OCI 1.1) with a layer per file; an in-toto statement and replications refer to it. Whatever
// comes back from a registry is hostile until its digest says otherwise: sizes and names are checked before the first byte is stored.
package oci

// Media types of what this package stores. An artifact's layers carry the usual type of their file.
const (
	ArtifactType  = "application/vnd.transportbench.artifact.v1" // artifactType of an artifact's manifest
	CapsuleType   = "application/vnd.transportbench.capsule.v1"  // artifactType of a source capsule
	StatementType = "application/vnd.in-toto+json"               // artifactType and layer type of a statement
)

// Annotations of an artifact's manifest besides the predefined ones. They repeat manifest.json for listings; pull compares them.
const (
	annotationKind     = "transportbench.kind"
	annotationPlan     = "transportbench.plan-hash"
	annotationAllowed  = "transportbench.allowed"  // refusals that the publisher overrode, comma-separated
	annotationPosition = "transportbench.journal"  // journal_head
	annotationVerdict  = "transportbench.findings" // findings of bench verify when it was published
	annotationPred     = "in-toto.io/predicate-type"
)

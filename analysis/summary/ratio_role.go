package summary

import (
	"reflect"
	"slices"

	"transportbench/pipeline/matrix"
)

// Roles of a comparison: declared before the run, one program under two names, or everything else.
const (
	RolePrimary     = "primary"
	RoleSame        = "a/a"
	RoleExploratory = "exploratory"
)

// references are the columns that every other one is compared with, in this order.
var references = [...]string{"kcp-c", "udp"}

// below says that a belongs below the line when compared with b: a reference, the plain twin, or the earlier column.
func below(a, b matrix.Variant) bool {
	for _, ref := range references {
		if a.Name == ref || b.Name == ref {
			return a.Name == ref
		}
	}
	if twins(a, b) {
		return a.API == "send"
	}
	return true
}

func role(a, b matrix.Variant) string {
	switch {
	case sameColumn(a, b):
		return RoleSame
	case twins(a, b), slices.Contains(references[:], a.Name), slices.Contains(references[:], b.Name):
		return RolePrimary
	}
	return RoleExploratory
}

// twins differ in how they are called and in nothing else.
func twins(a, b matrix.Variant) bool {
	return a.API != b.API && a.Driver == b.Driver && a.Policy == b.Policy && a.RTOMinNS == b.RTOMinNS && a.GSO == b.GSO
}

// sameColumn: one program, called in one way, under two names.
func sameColumn(a, b matrix.Variant) bool {
	if a.Name == b.Name {
		return false
	}
	a.Name, a.Rationale, a.Extra = b.Name, b.Rationale, b.Extra
	return reflect.DeepEqual(a, b)
}

package artifacts

// Hard limits of format 1. A reader refuses what is larger, so a hostile folder cannot exhaust memory.
// The line limit holds a run whose two drivers each used the whole 1 MiB that the driver contract grants them, with room for the rest.
const (
	MaxManifestBytes    = 4 << 20
	MaxPlanBytes        = 16 << 20
	MaxReplicationBytes = 16 << 20
	MaxJournalBytes     = 1 << 30
	MaxLineBytes        = 4 << 20
	MaxLines            = 200_000
	MaxSumsBytes        = 32 << 20
	MaxFiles            = 500_000
	MaxSamples          = 1 << 24 // values in one samples file
	MaxLogBytes         = 64 << 20
	maxFileBytes        = 256 << 20 // samples and derived files: 2^24 values of 8 B that do not compress, twice
	maxNameBytes        = 240
)

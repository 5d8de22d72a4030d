package link

import (
	"encoding/binary"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
)

// nftBackend drops in the kernel with its own random numbers: fast, loss only, not seeded.
type nftBackend struct{ table *table }

func (b *nftBackend) install(p plan) error {
	t, err := openTable(p, func(direction int) [][]expr.Any { return randomDrop(p.lossPPM, direction) })
	b.table = t
	return err
}

// randomDrop compares a uniform 32-bit number with a threshold (nft_meta.c, NFT_META_PRANDOM). Byte order does not matter
// for a uniform number. Without loss the chain only counts, so clean runs carry the same hook.
func randomDrop(lossPPM, direction int) [][]expr.Any {
	if lossPPM == 0 {
		return nil
	}
	return [][]expr.Any{{
		&expr.Meta{Key: expr.MetaKeyPRANDOM, Register: reg},
		&expr.Cmp{Op: expr.CmpOpLt, Register: reg, Data: binaryutil.BigEndian.PutUint32(dropThreshold(lossPPM))},
		count("dropped-" + directionNames[direction]),
		&expr.Verdict{Kind: expr.VerdictDrop},
	}}
}

// readBack requires the same drop in every direction.
func (b *nftBackend) readBack(s *State) error {
	for i, name := range directionNames {
		rules, err := b.table.rules(i)
		if err != nil {
			return err
		}
		threshold, err := readDrop(rules)
		if err != nil {
			return fmt.Errorf("nftables chain %s: %w", name, err)
		}
		ppm := thresholdPPM(threshold)
		if i > 0 && ppm != s.LossPPM {
			return fmt.Errorf("nftables chain %s drops %d ppm, the one before %d", name, ppm, s.LossPPM)
		}
		s.LossPPM, s.DelayNS, s.LossUnit = ppm, 0, LossUnitDatagram
		s.Detail = fmt.Sprintf("inet prerouting: meta random < %#08x drop, unseeded", threshold)
	}
	if s.LossPPM == 0 {
		s.Detail = "inet prerouting: counters only"
	}
	return nil
}

// readDrop returns the threshold of the drop rule, 0 when there is none.
func readDrop(rules []*nftables.Rule) (uint32, error) {
	if len(rules) == 0 {
		return 0, nil
	}
	if len(rules) > 1 || len(rules[0].Exprs) != 4 {
		return 0, fmt.Errorf("rules in the kernel are not the ones installed")
	}
	random, ok1 := rules[0].Exprs[0].(*expr.Meta)
	less, ok2 := rules[0].Exprs[1].(*expr.Cmp)
	drop, ok3 := rules[0].Exprs[3].(*expr.Verdict)
	if !ok1 || !ok2 || !ok3 || random.Key != expr.MetaKeyPRANDOM || less.Op != expr.CmpOpLt || len(less.Data) != 4 || drop.Kind != expr.VerdictDrop {
		return 0, fmt.Errorf("drop rule in the kernel is not the one installed")
	}
	return binary.BigEndian.Uint32(less.Data), nil
}

func (b *nftBackend) ledger() (ledger, error) { return b.table.ledger() }

func (b *nftBackend) close() error {
	t := b.table
	b.table = nil
	return t.close()
}

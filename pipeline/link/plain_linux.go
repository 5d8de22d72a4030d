package link

// plainBackend is the configured loopback with nothing on it: no qdisc, no hook and no counters of its own. Calibrations
// compare with it; no plan does.
type plainBackend struct{}

func (plainBackend) install(p plan) error {
	if p.lossPPM > 0 || p.delay > 0 {
		return &UnsupportedError{Missing: "impairment: backend plain has none", Fix: "use netem, nft or nfqueue"}
	}
	return nil
}

func (plainBackend) readBack(s *State) error {
	s.LossUnit, s.Detail = LossUnitDatagram, "nothing on lo"
	return nil
}

func (plainBackend) ledger() (ledger, error) { return ledger{nil, -1, -1}, nil }

func (plainBackend) close() error { return nil }

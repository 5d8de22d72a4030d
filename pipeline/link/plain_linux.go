package link

// plainBackend is the configured loopback with nothing on it: no qdisc, no hook and no counters of its own. Calibrations
// compare with it; no plan does.
type plainBackend struct{}

func (plainBackend) install(plan) error { return nil }

func (plainBackend) readBack(s *State) error {
	s.LossUnit, s.Detail = LossUnitDatagram, "nothing on lo"
	return nil
}

func (plainBackend) ledger() (ledger, error) { return ledger{nil, -1, -1}, nil }

func (plainBackend) close() error { return nil }

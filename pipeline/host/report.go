package host

// Report is what a runtime says about the machine its drivers run on: Env.Host of package sandbox as JSON.
type Report struct {
	Environment *Environment      `json:"environment,omitempty"`       // of the machine; only in the first report of a network
	Namespace   map[string]string `json:"namespace_sysctls,omitempty"` // as the drivers' network has them
	Counters    Counters          `json:"counters"`
}

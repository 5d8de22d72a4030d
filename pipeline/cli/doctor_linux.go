package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/vm"
)

// diagnosis is what doctor found, in words and for machines.
type diagnosis struct {
	Probe    sandbox.Probe    `json:"probe"`
	Docker   dockerState      `json:"docker"`
	VM       string           `json:"vm"` // what --runtime vm would use, or what it lacks
	Profiles []profileAbility `json:"profiles"`
	Drivers  []driverState    `json:"drivers"`
}

// profileAbility says by which backend a profile can be measured here.
type profileAbility struct {
	Profile string `json:"profile"`
	Backend string `json:"backend"` // none: it cannot
	Reason  string `json:"reason,omitempty"`
}

// driverState says whether a driver can be used.
type driverState struct {
	Name    string   `json:"name"`
	Path    string   `json:"path,omitempty"`
	Columns []string `json:"columns"`
	Missing string   `json:"missing,omitempty"`
}

func newDoctor() *cobra.Command {
	var asJSON bool
	var driversDir string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can measure, what it cannot, and how to fix it",
		Long: "Everything is found by trying it in a scratch namespace; nothing on the machine is changed. Exit code 0 means that every " +
			"published profile can be measured here by some backend, 3 that some cannot.",
		Example: "  bench doctor\n  bench doctor --json | jq .profiles",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := diagnose(cmd, driversDir)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(d)
			} else {
				err = d.print(cmd.OutOrStdout())
			}
			if n := d.impossible(); err == nil && n > 0 {
				return fail(ExitEnvironment, fmt.Errorf("%d of %d profiles cannot be measured here", n, len(d.Profiles)))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringVar(&driversDir, "drivers", "", "look for drivers in this `folder` only")
	return cmd
}

func diagnose(cmd *cobra.Command, driversDir string) (*diagnosis, error) {
	rt, err := localRuntime(driversDir)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	d := &diagnosis{}
	if d.Probe, err = rt.Probe(cmd.Context()); err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	m, err := matrix.Builtin("published")
	if err != nil {
		return nil, err
	}
	d.Docker = dockerAbility(cmd.Context(), driversDir)
	d.VM = vm.Ability(cmd.Context(), pinsFile)
	best := d.Probe
	if best.Namespaces != "ok" && d.Docker.Probe != nil { // containers may do what this user may not
		best = *d.Docker.Probe
	}
	for _, p := range m.Profiles {
		d.Profiles = append(d.Profiles, ability(p, best))
	}
	d.Drivers = driverStates(cmd, m, driversDir)
	return d, nil
}

func ability(p matrix.Profile, probe sandbox.Probe) profileAbility {
	a := profileAbility{Profile: p.ID, Backend: matrix.BackendNone}
	if probe.Namespaces != "ok" {
		a.Reason = probe.Namespaces
		return a
	}
	backend, err := link.Choose(p.Link, probe.Links)
	if err != nil {
		a.Reason = oneLine(err.Error())
		return a
	}
	a.Backend = backend
	if err := sandbox.CheckNoFile(p.Connections, probe.NoFileHard); err != nil {
		a.Backend, a.Reason = matrix.BackendNone, oneLine(err.Error())
	}
	return a
}

func (d *diagnosis) impossible() int {
	n := 0
	for _, p := range d.Profiles {
		if p.Backend == matrix.BackendNone {
			n++
		}
	}
	return n
}

func (d *diagnosis) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintf(w, "namespaces\t%s\n", withFix(d.Probe.Namespaces, d.Probe.Fix))
	fmt.Fprintf(w, "CPUs\t%s; %s\n", sandbox.FormatCPUList(d.Probe.CPUs), placementText())
	fmt.Fprintf(w, "open files\thard limit %d\n", d.Probe.NoFileHard)
	for _, c := range d.Probe.Links {
		fmt.Fprintf(w, "link %s\t%s\n", c.Backend, capabilityText(c))
	}
	d.Docker.print(w)
	fmt.Fprintf(w, "virtual machine\t%s\n", d.VM)
	byBackend := map[string]int{}
	for _, p := range d.Profiles {
		byBackend[p.Backend]++
	}
	for _, b := range []string{link.BackendNetem, link.BackendNFT, link.BackendNFQueue, matrix.BackendNone} {
		if byBackend[b] > 0 {
			fmt.Fprintf(w, "profiles by %s\t%d of %d%s\n", b, byBackend[b], len(d.Profiles), profileNote(b))
		}
	}
	for _, l := range d.cannot() {
		fmt.Fprintf(w, "cannot measure\t%s\n", l)
	}
	for _, s := range d.Drivers {
		fmt.Fprintf(w, "driver %s\t%s\n", s.Name, s.text())
	}
	return w.Flush()
}

// cannot has a line a reason with the profiles that it keeps from being measured.
func (d *diagnosis) cannot() []string {
	var reasons, lines []string
	profiles := map[string][]string{}
	for _, p := range d.Profiles {
		if p.Backend != matrix.BackendNone {
			continue
		}
		if profiles[p.Reason] == nil {
			reasons = append(reasons, p.Reason)
		}
		profiles[p.Reason] = append(profiles[p.Reason], p.Profile)
	}
	for _, r := range reasons {
		who := strings.Join(profiles[r], ", ")
		if len(profiles[r]) == len(d.Profiles) {
			who = "any profile"
		}
		lines = append(lines, who+": "+r)
	}
	return lines
}

func withFix(state, fix string) string {
	if fix == "" {
		return state
	}
	return state + "; fix: " + fix
}

func capabilityText(c link.Capability) string {
	if !c.OK {
		return "no: " + withFix(c.Reason, c.Fix)
	}
	text := "works:"
	if c.Loss {
		text += " loss"
	}
	if c.Delay {
		text += " delay"
	}
	return text
}

func profileNote(backend string) string {
	switch backend {
	case link.BackendNetem:
		return " (the reference backend)"
	case matrix.BackendNone:
		return " (reported as unsupported)"
	}
	return " (not the reference: netem is; results say so)"
}

// placementText says whether the published placement fits the CPUs that this process may use.
func placementText() string {
	topology, err := sandbox.Topology()
	if err != nil {
		return "topology unknown: " + oneLine(err.Error())
	}
	server, client, label := sandbox.Place(topology, matrix.PlacementSplit)
	return fmt.Sprintf("server on %s, client on %s, placement: %s", sandbox.FormatCPUList(server), sandbox.FormatCPUList(client), label)
}

func (s driverState) text() string {
	if s.Missing != "" {
		return "no: " + s.Missing
	}
	return "serves " + strings.Join(s.Columns, ", ")
}

package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// clause is one --only argument: every key present must have one of its values.
type clause map[string][]string

// filter is the union of clauses; an empty one accepts every cell.
type filter []clause

func onlyKeys() []string {
	return []string{"suite", "variant", "payload", "connections", "loss", "delay", "profile"}
}

// newFilter parses the clauses. A key that does not exist and a value that no profile or column has are errors that name the choices.
func newFilter(only []string, profiles []planned, columns []Variant) (filter, error) {
	var f filter
	for _, text := range only {
		c, err := parseClause(text)
		if err != nil {
			return nil, fmt.Errorf("only %q: %w", text, err)
		}
		for _, key := range sortedKeys(c) {
			choices := choicesOf(key, profiles, columns)
			for _, v := range c[key] {
				if !slices.Contains(choices, v) {
					return nil, fmt.Errorf("only %q: no %s is %q: choose from %s", text, key, v, strings.Join(choices, ", "))
				}
			}
		}
		f = append(f, c)
	}
	return f, nil
}

func parseClause(text string) (clause, error) {
	c := clause{}
	for part := range strings.SplitSeq(text, ",") {
		key, values, ok := strings.Cut(part, "=")
		if !ok || values == "" {
			return nil, fmt.Errorf("%q is not key=value|value", part)
		}
		if !slices.Contains(onlyKeys(), key) {
			return nil, fmt.Errorf("unknown key %q: choose from %s", key, strings.Join(onlyKeys(), ", "))
		}
		if _, twice := c[key]; twice {
			return nil, fmt.Errorf("key %s is given twice: write %s=a|b", key, key)
		}
		c[key] = strings.Split(values, "|")
	}
	return c, nil
}

// namedVariants lists the columns that clauses name, wrong ones included: newFilter reports those.
func namedVariants(only []string) []string {
	var names []string
	for _, text := range only {
		if c, err := parseClause(text); err == nil {
			names = append(names, c["variant"]...)
		}
	}
	return names
}

// columns returns the columns of a profile that any clause accepts.
func (f filter) columns(p Profile, columns []Variant) []Variant {
	if len(f) == 0 {
		return columns
	}
	var out []Variant
	for _, v := range columns {
		if slices.ContainsFunc(f, func(c clause) bool { return c.accepts(p, v) }) {
			out = append(out, v)
		}
	}
	return out
}

func (c clause) accepts(p Profile, v Variant) bool {
	for key, values := range c {
		has := v.Name
		if key != "variant" {
			has = p.field(key)
		}
		if !slices.Contains(values, has) {
			return false
		}
	}
	return true
}

// field is a profile's value of a selection key, as users write it.
func (p Profile) field(key string) string {
	switch key {
	case "suite":
		return p.Suite
	case "payload":
		return strconv.Itoa(p.PayloadBytes)
	case "connections":
		return strconv.Itoa(p.Connections)
	case "loss":
		return p.lossPercent()
	case "delay":
		return p.delayMS()
	}
	return p.ID
}

// choicesOf lists the values of a key that exist, in order of appearance.
func choicesOf(key string, profiles []planned, columns []Variant) []string {
	var all []string
	add := func(v string) {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if key == "variant" {
		for _, v := range columns {
			add(v.Name)
		}
		return all
	}
	for _, p := range profiles {
		if !p.dropped {
			add(p.field(key))
		}
	}
	return all
}

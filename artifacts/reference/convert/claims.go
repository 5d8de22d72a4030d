package main

import (
	"fmt"

	"transportbench/artifacts/reference"
)

// texts says in our words what each published statement asserts.
func texts() map[string]string {
	return map[string]string{
		"small-messages-batch": "64 B over 1,024 connections without loss: the batch calls of RakNet lead quic-go, TCP, plain RakNet sends and C KCP, in this order",
		"single-5pct-loss":     "one connection, 800 B, 5 % loss: plain RakNet sends lead C KCP, quic-go and TCP, in this order",
		"policy-throughput":    "800 B over 1,024 connections without loss: the send policy speeds plain sends up and slows batch calls down",
		"policy-loaded-rtt":    "64 B over 1,024 connections without loss: the send policy lowers the loaded median of plain sends and raises their p99",
	}
}

// moreOrders are orders that a statement asserts in words and the source does not list: the policy's higher p99.
func moreOrders(id string, equals []reference.Point) [][]reference.Point {
	if id != "policy-loaded-rtt" {
		return nil
	}
	var order []reference.Point
	for i := len(equals) - 1; i >= 0; i-- {
		if e := equals[i]; e.Metric == "loaded_p99" {
			order = append(order, reference.Point{Cell: e.Cell, Metric: e.Metric})
		}
	}
	return [][]reference.Point{order}
}

func convertClaims(said sourceClaims, src source) (reference.Claims, error) {
	out := reference.Claims{
		Schema: "reference-claims/1", DropsMax: said.Notes.DropsMax,
		DropsOther: []int{175509, 407363, 287825, 295212, 417267, 7000}, // the Chinese edition, in the order of its columns
	}
	for _, c := range said.Claims {
		text, ok := texts()[c.ID]
		if !ok {
			return out, fmt.Errorf("claim %s has no text here", c.ID)
		}
		equals, err := points(c.Equals)
		if err != nil {
			return out, err
		}
		order, err := points(c.Order)
		if err != nil {
			return out, err
		}
		orders := append([][]reference.Point{order}, moreOrders(c.ID, equals)...)
		out.Claims = append(out.Claims, reference.Claim{ID: c.ID, Text: text, Equals: equals, Orders: orders})
	}
	return out, amend(&out, said, src)
}

func points(from []sourcePoint) ([]reference.Point, error) {
	var out []reference.Point
	for _, s := range from {
		name, err := s.Cell.cell()
		if err != nil {
			return nil, err
		}
		metric, err := s.Cell.metric(s.Metric)
		if err != nil {
			return nil, err
		}
		p := reference.Point{Cell: name, Metric: metric}
		if s.Value != nil {
			v, err := s.Value.Float64()
			if err != nil {
				return nil, err
			}
			p.Value = &v
		}
		out = append(out, p)
	}
	return out, nil
}

func amend(out *reference.Claims, said sourceClaims, src source) error {
	for _, a := range said.Notes.Amendments {
		for _, c := range src.Cells {
			if c.Group != a.Cell.Group || c.Transport != a.Cell.Transport {
				continue
			}
			name, err := c.cell()
			if err != nil {
				return err
			}
			metric, err := c.metric(a.Metric)
			if err != nil {
				return err
			}
			nums, err := floats(append([]number{a.Median, a.OriginalMedian}, append(a.OriginalRange, a.RetestRange...)...))
			if err != nil || len(nums) != 6 {
				return fmt.Errorf("amendment of %s: %d numbers: %w", name, len(nums), err)
			}
			out.Amendments = append(out.Amendments, reference.Amendment{
				Cell: name, Metric: metric, Unit: "us", Median: nums[0], OriginalMedian: nums[1], OriginalRange: nums[2:4],
				RetestRuns: a.RetestRuns, RetestRange: nums[4:6],
				Note: "the median is that of a later retest of this column alone; the range beside it is still that of the first five runs",
			})
		}
	}
	return nil
}

func floats(from []number) ([]float64, error) {
	var out []float64
	for _, n := range from {
		v, err := n.Float64()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

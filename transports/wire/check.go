package wire

import (
	"errors"
	"fmt"
	"slices"
)

// checkValues refuses values that no honest driver can write, so that a driver that leaves a field out is found by its first run.
func checkValues(r Record) error {
	switch r := r.(type) {
	case Describe:
		return r.check()
	case Hello:
		return sameContract(r.Contract)
	case Ready:
		return positive("addr length", int64(len(r.Addr)))
	case Connected:
		return errors.Join(positive("n", int64(r.N)), natural("setup_ns", r.SetupNS))
	case Start:
		return positive("mono_ns", r.MonoNS)
	case Result:
		return r.check()
	case Done:
		return r.check()
	case Error:
		return errors.Join(positive("code length", int64(len(r.Code))), positive("message length", int64(len(r.Message))))
	}
	return nil
}

func (r Describe) check() error {
	for _, api := range r.APIs {
		if api != APISend && api != APIBatch {
			return fmt.Errorf("describe names the unknown api %.40q", api)
		}
	}
	if r.Transport == "" || !slices.Contains(r.APIs, APISend) {
		return errors.New("describe needs a transport and the api send")
	}
	return sameContract(r.Contract)
}

func (r Result) check() error {
	return errors.Join(
		positive("elapsed_ns", r.ElapsedNS), natural("messages", r.Messages), natural("bytes", r.Bytes),
		natural("verified", r.Verified), natural("lost", r.Lost))
}

func (r Done) check() error {
	sum := int64(0)
	for _, n := range r.PerListener {
		if err := natural("per_listener", n); err != nil {
			return err
		}
		sum += n
	}
	if len(r.PerListener) > 0 && sum != r.Messages {
		return fmt.Errorf("per_listener adds up to %d: messages is %d", sum, r.Messages)
	}
	return errors.Join(natural("connections", r.Connections), natural("messages", r.Messages))
}

func sameContract(v int) error {
	if v != ContractVersion {
		return fmt.Errorf("contract version %d: want %d", v, ContractVersion)
	}
	return nil
}

func positive(field string, v int64) error {
	if v <= 0 {
		return fmt.Errorf("%s is %d: want more than 0", field, v)
	}
	return nil
}

func natural(field string, v int64) error {
	if v < 0 {
		return fmt.Errorf("%s is %d: want 0 or more", field, v)
	}
	return nil
}

package sandbox

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/moby/moby/client"
)

// KillHolder ends the holder of an Env of the docker runtime as an administrator would.
func KillHolder(t *testing.T, env Env) {
	t.Helper()
	if err := env.(*dockerEnv).box.kill(t.Context(), "KILL"); err != nil {
		t.Fatal(err)
	}
}

// EngineState lists the containers, volumes and networks of the engine, ours or not.
func EngineState(ctx context.Context, d *Docker) ([]string, error) {
	var all []string
	boxes, err := d.engine.api.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil, err
	}
	for _, c := range boxes.Items {
		all = append(all, fmt.Sprint("container ", c.Names))
	}
	volumes, err := d.engine.api.VolumeList(ctx, client.VolumeListOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range volumes.Items {
		all = append(all, "volume "+v.Name)
	}
	networks, err := d.engine.api.NetworkList(ctx, client.NetworkListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range networks.Items {
		all = append(all, "network "+n.Name)
	}
	slices.Sort(all)
	return all, nil
}

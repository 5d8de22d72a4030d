package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// engineDeadline bounds one request to the engine. Requests do not end with the caller's context: one that is broken off in the middle
// may still make a container that nobody knows of.
const engineDeadline = 60 * time.Second

// minAPI is the oldest API whose containers can share a PID namespace and have labelled anonymous volumes, and that the client
// library speaks: Engine 19.03.
const minAPI = client.MinAPIVersion

// engine is a connection to a container engine.
type engine struct {
	provider *testcontainers.DockerProvider
	api      *client.Client
	info     Engine
}

// connect finds the engine that DOCKER_HOST names, or else one at the usual sockets, and checks that it can do what is needed.
func connect(ctx context.Context) (*engine, error) {
	ctx, cancel := context.WithTimeout(ctx, engineDeadline)
	defer cancel()
	host := engineHost()
	api, err := client.New(client.FromEnv, client.WithHost(host))
	if err != nil {
		return nil, diagnoseEngine(ctx, host, err)
	}
	e := &engine{api: api}
	if err := e.identify(ctx); err != nil {
		return nil, errors.Join(diagnoseEngine(ctx, host, err), e.close())
	}
	if e.provider, err = newProvider(host, e.info); err != nil {
		return nil, errors.Join(engineError("connecting", err), e.close())
	}
	e.provider.SetClient(api)
	return e, nil
}

// noNetwork is the network that every Docker engine has. The library makes a network of its own where the one that it takes for the
// default is missing, as with dockerd --bridge=none; with this name it makes none.
const noNetwork = "none"

// newProvider sets the library up, which would look for an engine by itself and reads its settings from the environment alone: no reaper,
// whose image could not be pulled without a registry and whose work our labels do; no session name of the user's; nothing printed.
func newProvider(host string, info Engine) (*testcontainers.DockerProvider, error) {
	tclog.SetDefault(tclog.NewNoopLogger())
	for _, name := range []string{"TESTCONTAINERS_SESSION_ID", "TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX", "TESTCONTAINERS_PROVIDER"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, fmt.Errorf("environment: %s: %w", name, err)
		}
	}
	err := errors.Join(os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"), os.Setenv(client.EnvOverrideHost, host))
	if err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	network := noNetwork
	if info.podman() {
		network = testcontainers.Podman // it does not list the network none
	}
	return testcontainers.NewDockerProvider(
		testcontainers.WithDefaultBridgeNetwork(network), testcontainers.WithLogger(tclog.NewNoopLogger()),
	)
}

// identify asks the engine what it is and refuses one that is too old or of another system.
func (e *engine) identify(ctx context.Context) error {
	ping, err := e.api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if unusable := usable(ping.APIVersion, ping.OSType); unusable != nil {
		return unusable
	}
	if err != nil {
		return err
	}
	version, err := e.api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return err
	}
	info, err := e.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return err
	}
	i := info.Info
	e.info = Engine{
		Name: "Docker Engine", Version: version.Version, API: version.APIVersion, OS: i.OperatingSystem, Kernel: i.KernelVersion,
		StorageDriver: i.Driver, CgroupDriver: i.CgroupDriver, CgroupVersion: i.CgroupVersion, Runtime: i.DefaultRuntime,
		Security: i.SecurityOptions,
	}
	for _, c := range version.Components {
		if strings.Contains(c.Name, "Engine") && c.Name != "Engine" {
			e.info.Name = c.Name
		}
	}
	return nil
}

// podman reports whether it is Podman behind its Docker-compatible socket.
func (e Engine) podman() bool { return strings.Contains(e.Name, "Podman") }

// usable judges what a ping says.
func usable(api, system string) error {
	switch {
	case api != "" && versions.LessThan(api, minAPI):
		return &UnsupportedError{
			What: fmt.Sprintf("docker engine: too old, it speaks API %s and %s is needed", api, minAPI),
			Fix:  "upgrade it to Engine 19.03 or later, or use --runtime local",
		}
	case system != "" && system != "linux":
		return &UnsupportedError{
			What: fmt.Sprintf("docker engine: runs %s containers", system), Fix: "switch it to Linux containers, or use --runtime local",
		}
	}
	return nil
}

// within gives one request its deadline; see engineDeadline.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), engineDeadline)
}

func (e *engine) close() error { return e.api.Close() }

// FindEngine says which engine answers here. An *UnsupportedError says why none can be used.
func FindEngine(ctx context.Context) (Engine, error) {
	e, err := connect(ctx)
	if err != nil {
		return Engine{}, err
	}
	return e.info, e.close()
}

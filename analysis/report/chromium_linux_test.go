package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// browser speaks the DevTools protocol (chromedevtools.github.io/devtools-protocol) with a headless Chromium over two pipes:
// JSON messages that end with a zero byte.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	next    int
	seen    []message // events, in order
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("unsupported: no chromium in PATH; Debian's package chromium has it")
	}
	theirs, to, err := os.Pipe()
	check(t, err)
	from, ours, err := os.Pipe()
	check(t, err)
	profile, err := os.MkdirTemp("", "chromium-profile-")
	check(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--user-data-dir="+profile, "--remote-debugging-pipe")
	for _, f := range []*os.File{theirs, ours} { // the browser expects reads and writes that block
		check(t, syscall.SetNonblock(int(f.Fd()), false))
	}
	cmd.ExtraFiles = []*os.File{theirs, ours} // descriptors 3 and 4
	check(t, cmd.Start())
	_, _ = theirs.Close(), ours.Close() // the browser holds its own copies
	check(t, from.SetReadDeadline(time.Now().Add(2*time.Minute)))
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() { // the context of the test has ended, so the browser is told; its helpers may outlive it for a moment
		b.session = ""
		b.call("Browser.close", nil)
		_, _ = io.Copy(io.Discard, b.from)
		_ = cmd.Wait()
		_, _, _ = to.Close(), from.Close(), os.RemoveAll(profile)
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil)
	}
	return b
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call sends a command and returns its result; events that come before it are kept.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	out, err := json.Marshal(m)
	check(b.t, err)
	_, err = b.to.Write(append(out, 0))
	check(b.t, err)
	for {
		in := b.read()
		if in.ID != b.next {
			continue
		}
		if in.Error != nil {
			b.t.Fatalf("%s: %s", method, in.Error)
		}
		var result map[string]any
		check(b.t, json.Unmarshal(in.Result, &result))
		return result
	}
}

func (b *browser) read() message {
	b.t.Helper()
	raw, err := b.from.ReadBytes(0)
	check(b.t, err)
	var in message
	check(b.t, json.Unmarshal(raw[:len(raw)-1], &in))
	if in.Method != "" {
		b.seen = append(b.seen, in)
	}
	return in
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: path}).String()})
	for b.read().Method != "Page.loadEventFired" {
	}
}

// eval returns the value of an expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	r := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if r["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, r["exceptionDetails"])
	}
	return r["result"].(map[string]any)["value"]
}

func (b *browser) enter() {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})
	}
}

// settle waits until the page has handled what it was sent.
func (b *browser) settle() {
	b.t.Helper()
	b.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
}

func TestReportInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported in -short: starts a browser")
	}
	b := openBrowser(t)
	path := filepath.Join(t.TempDir(), "report.html")
	check(t, os.WriteFile(path, render(t, fixtureInput(t)), 0o644))
	b.open(path)
	// one cell by click, another by keyboard
	const link = `[...document.querySelectorAll('#%s table a')].find(a => document.getElementById(decodeURIComponent(a.hash.slice(1))))`
	const opened = `(a => { const d = document.getElementById(decodeURIComponent(a.hash.slice(1))); return d.closest('details').open && d.checkVisibility() })(%s)`
	for i, suite := range []string{"single", "sparse"} {
		a := fmt.Sprintf(link, suite)
		if b.eval(fmt.Sprintf(opened, a)) == true {
			t.Fatalf("%s: the runs are open before anybody asked", suite)
		}
		if i == 0 {
			b.eval(a + ".click()")
		} else {
			b.eval(a + ".focus()")
			b.enter()
		}
		b.settle()
		if b.eval(fmt.Sprintf(opened, a)) != true {
			t.Errorf("%s: the runs of a cell do not open", suite)
		}
	}
	b.eval("document.querySelector('details.more summary').focus()")
	b.enter()
	b.settle()
	if b.eval("document.querySelector('details.more').open") != true {
		t.Error("Enter does not open a section")
	}
	light := b.eval("getComputedStyle(document.body).backgroundColor")
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}})
	if dark := b.eval("getComputedStyle(document.body).backgroundColor"); dark == light {
		t.Errorf("light and dark have the same background %v", dark)
	}
	for _, width := range []int{400, 1400} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
		if got := b.eval("document.documentElement.scrollWidth").(float64); got > float64(width) {
			t.Errorf("at %d px the page is %v px wide", width, got)
		}
	}
	b.checkEvents(path)
}

// checkEvents finds requests to anything but the file, errors and console messages.
func (b *browser) checkEvents(path string) {
	b.t.Helper()
	requests := 0
	for _, m := range b.seen {
		switch m.Method {
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			check(b.t, json.Unmarshal(m.Params, &p))
			requests++
			if page, _, _ := strings.Cut(p.Request.URL, "#"); page != "file://"+path {
				b.t.Errorf("the page asks for %s", p.Request.URL)
			}
		case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
			b.t.Errorf("%s: %s", m.Method, m.Params)
		}
	}
	if requests == 0 {
		b.t.Error("the browser reported no request: nothing was checked")
	}
}

package sandbox

import (
	"encoding/json"
	"errors"
	"io"
)

// loaded reads an engine's answer to an archive, one JSON object after another, and returns its last word. Engines report a
// failure, such as a full disk, in the middle of an answer that began well.
func loaded(body io.ReadCloser) (string, error) {
	defer func() { _ = body.Close() }()
	last := ""
	for dec := json.NewDecoder(io.LimitReader(body, maxMessage)); ; {
		var line struct {
			Stream string `json:"stream"`
			Error  string `json:"error"`
		}
		err := dec.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return last, err
		case line.Error != "":
			return last, errors.New(line.Error)
		case line.Stream != "":
			last = line.Stream
		}
	}
}

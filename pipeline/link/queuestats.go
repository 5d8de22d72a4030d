package link

import (
	"fmt"
	"strconv"
	"strings"
)

// parseQueues reads /proc/net/netfilter/nfnetlink_queue: packets dropped per queue number. The columns are queue, port id,
// waiting, copy mode, copy range, dropped because the queue was full, dropped because the socket was full, last id, 1
// (net/netfilter/nfnetlink_queue.c, seq_show).
func parseQueues(text []byte) (map[uint16]int64, error) {
	const columns = 9
	drops := map[uint16]int64{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < columns {
			return nil, fmt.Errorf("queue table has %d columns, want %d", len(words), columns)
		}
		number, err1 := strconv.ParseUint(words[0], 10, 16)
		full, err2 := strconv.ParseInt(words[5], 10, 64)
		socket, err3 := strconv.ParseInt(words[6], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("queue table line %q has no numbers", strings.TrimSpace(line))
		}
		drops[uint16(number)] = full + socket
	}
	return drops, nil
}

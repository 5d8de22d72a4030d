package link

// Names of the directions, in ledger order.
var directionNames = [...]string{"to-server", "to-client", "other"}

const (
	toServer = iota
	toClient
	other
)

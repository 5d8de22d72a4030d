package link

// Names of the directions, in ledger order.
var directionNames = [...]string{"to-server", "to-client", "other"}

const (
	toServer = iota
	toClient
	other
)

// bothDirections is the ledger of a backend that cannot tell them apart here.
const bothDirections = "both"

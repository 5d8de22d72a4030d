package wire

// Record is one of the record types of this package.
type Record interface {
	// name is the value of the type field.
	name() string
	// typed returns a copy whose Type field is right.
	typed() Record
}

func (r Describe) name() string    { return TypeDescribe }
func (r Hello) name() string       { return TypeHello }
func (r Ready) name() string       { return TypeReady }
func (r Connected) name() string   { return TypeConnected }
func (r Start) name() string       { return TypeStart }
func (r Connections) name() string { return TypeConnections }
func (r Result) name() string      { return TypeResult }
func (r Done) name() string        { return TypeDone }
func (r Error) name() string       { return TypeError }
func (r Exit) name() string        { return TypeExit }

func (r Describe) typed() Record    { r.Type = r.name(); return r }
func (r Hello) typed() Record       { r.Type = r.name(); return r }
func (r Ready) typed() Record       { r.Type = r.name(); return r }
func (r Connected) typed() Record   { r.Type = r.name(); return r }
func (r Start) typed() Record       { r.Type = r.name(); return r }
func (r Connections) typed() Record { r.Type = r.name(); return r }
func (r Result) typed() Record      { r.Type = r.name(); return r }
func (r Done) typed() Record        { r.Type = r.name(); return r }
func (r Error) typed() Record       { r.Type = r.name(); return r }
func (r Exit) typed() Record        { r.Type = r.name(); return r }

package matrix

// The raw types mirror the YAML file. A pointer tells "absent" from zero where a profile may override its suite.

type rawMatrix struct {
	Schema      integer             `yaml:"schema"`
	Name        string              `yaml:"name"`
	Seed        string              `yaml:"seed"`
	ScaleFloors rawFloors           `yaml:"scale_floors"`
	Deadlines   rawDeadlines        `yaml:"deadlines"`
	OpenFiles   integer             `yaml:"open_files_reserve"`
	Link        rawLink             `yaml:"link"`
	Suites      map[string]rawSuite `yaml:"suites"`
	Probe       []rawProbe          `yaml:"probe"`
	Profiles    []rawProfile        `yaml:"profiles"`
	Variants    []rawVariant        `yaml:"variants"`
	Bound       rawVariant          `yaml:"bound"`
}

type rawFloors struct {
	Windows integer `yaml:"windows"`
	Warmup  integer `yaml:"warmup"`
	Samples integer `yaml:"samples"`
}

type rawDeadlines struct {
	Client      span `yaml:"client"`
	ServerExtra span `yaml:"server_extra"`
	Ready       span `yaml:"ready"`
	Stop        span `yaml:"stop"`
}

type rawLink struct {
	MTU      integer `yaml:"mtu"`
	Limit    integer `yaml:"limit"`
	Backend  string  `yaml:"backend"`
	Topology string  `yaml:"topology"`
}

// rawSuite holds what profiles of a suite share.
type rawSuite struct {
	Window      *integer `yaml:"window"`
	Warmup      *integer `yaml:"warmup"`
	Samples     *integer `yaml:"samples"`
	Repetitions *integer `yaml:"repetitions"`
	Listeners   *integer `yaml:"listeners"`
	Placement   *string  `yaml:"placement"`
	CPUs        *integer `yaml:"cpus"`
	Workers     *integer `yaml:"workers"`
	Deadline    *span    `yaml:"deadline"`
}

type rawProfile struct {
	Suite       string   `yaml:"suite"`
	Payload     integer  `yaml:"payload"`
	Connections integer  `yaml:"connections"`
	Messages    integer  `yaml:"messages"`
	LossPercent percent  `yaml:"loss_percent"`
	OneWayDelay span     `yaml:"one_way_delay"`
	Rationale   string   `yaml:"rationale"`
	Override    rawSuite `yaml:",inline"`

	More rawImpairment `yaml:",inline"`
}

type rawProbe struct {
	Variant string     `yaml:"variant"`
	Profile rawProfile `yaml:",inline"`
}

type rawVariant struct {
	Name       string             `yaml:"name"`
	Driver     string             `yaml:"driver"`
	Image      string             `yaml:"image"`
	API        string             `yaml:"api"`
	Policy     string             `yaml:"policy"`
	MTU        map[string]integer `yaml:"mtu"`
	RcvBuf     integer            `yaml:"rcvbuf"`
	SndBuf     integer            `yaml:"sndbuf"`
	BuffersOn  string             `yaml:"buffers_on"`
	GSO        string             `yaml:"gso"`
	RTOMin     span               `yaml:"rto_min"`
	Unreliable bool               `yaml:"unreliable"`
	Extra      bool               `yaml:"extra"`
	Rationale  string             `yaml:"rationale"`
}

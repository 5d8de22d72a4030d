package host

import (
	"io/fs"
	"strings"
)

// sysctlNames are the kernel settings that change what a transport can do on loopback. Those of net.core are told only in
// the machine's first network namespace; the tcp ones belong to each namespace.
var sysctlNames = [...]string{
	"net.core.rmem_default", "net.core.rmem_max", "net.core.wmem_default", "net.core.wmem_max", "net.core.optmem_max",
	"net.core.netdev_max_backlog", "net.core.netdev_budget", "net.core.somaxconn", "net.core.busy_poll", "net.core.busy_read",
	"net.core.default_qdisc", "net.core.rps_sock_flow_entries", "net.core.bpf_jit_enable",
	"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem", "net.ipv4.udp_mem", "net.ipv4.udp_rmem_min",
	"net.ipv4.udp_wmem_min", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_limit_output_bytes", "net.ipv4.tcp_autocorking",
	"net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_sack", "net.ipv4.tcp_dsack", "net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_window_scaling", "net.ipv4.tcp_recovery", "net.ipv4.tcp_early_retrans", "net.ipv4.tcp_frto",
	"net.ipv4.tcp_ecn", "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_tso_win_divisor", "net.ipv4.tcp_rto_min_us", "net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_max_syn_backlog", "net.ipv4.ip_local_port_range",
	"kernel.sched_autogroup_enabled", "kernel.numa_balancing", "kernel.randomize_va_space", "kernel.timer_migration",
	"vm.swappiness", "vm.overcommit_memory",
}

// Sysctls reads every setting of the list; an absent one is "unknown".
func Sysctls(root fs.FS) map[string]string {
	m := make(map[string]string, len(sysctlNames))
	for _, name := range sysctlNames {
		m[name] = text(root, "proc/sys/"+strings.ReplaceAll(name, ".", "/"))
	}
	return m
}

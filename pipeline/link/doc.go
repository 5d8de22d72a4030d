// Package link turns a matrix.LinkSpec into a configured loopback inside the private network namespace it is called in.
//
// # What Apply does
//
// Apply brings lo up with the wanted MTU, takes segmentation and receive offload away (gso_max_segs 1, gso_max_size and
// gro_max_size one MTU), replaces the two loopback routes of the local table by the same routes with a congestion control
// metric, and puts one impairment backend on the loopback. Each step is read back from the kernel, and Apply fails where the
// kernel says something else than was asked. The caller must be alone in the namespace and hold CAP_NET_ADMIN in it;
// nothing outside the namespace is touched, and everything ends with the namespace.
//
// # Backends
//
// netem is a root qdisc on lo. It does loss and delay for every packet, is not seeded, and its queue limit is always set and
// verified, because packets over the limit would look like injected loss.
//
// nft is an nftables chain in the prerouting hook of lo that drops with `meta random`. It does loss only, runs at kernel
// speed, needs no root outside the namespace, and is not seeded: two runs lose different packets. The output hook is never
// used, because there a drop is reported to the sender as EPERM.
//
// nfqueue hands each packet to this process, which decides with a keyed hash of (direction, connection, packet number) and
// answers at once or after the delay. It does loss and delay, and the same seed drops the same packets again. A packet costs
// two switches between kernel and user space, the answer may come late by up to 2 ms under load, and a queue that is full
// drops packets that nobody chose: they are counted apart as overflow. A rule without a living reader drops everything, so
// the process that called Apply stays until Close.
//
// plain is nothing at all, for calibrations.
//
// # Further impairments
//
// Loss in bursts, jitter, reordering, duplicates and a rate with steps are for matrices of users. ability.go says who can do
// what; a backend that cannot refuses by name. nfqueue draws each from the same seed with a number of its own and keeps one
// chain of bursts for each connection and direction, so that they repeat; netem has one chain for every packet. A rate is
// shared by both directions in either, because lo is one device, and netem's queue counts a packet with its link header.
// Steps count from the moment the link was read back. Drops in bursts are judged in burst_ledger.go.
//
// # Loss unit
//
// netem judges what the sender hands to the device, so a UDP_SEGMENT batch is lost as a whole. nft and nfqueue judge what
// arrives on lo, and with gso_max_segs 1 the kernel splits a batch before that, so they lose single datagrams. TCP sends one
// segment per packet in any case. Packets over the MTU are counted on both sides of the split.
//
// TCP and UDP of any port meet the same loss. Packets to and from the server's port are booked as to-server and to-client;
// anything else (another port, a later IP fragment) as other. ICMP passes untouched except under netem.
package link

// Package linksim is an in-process datagram network with seeded loss, delay, reordering and duplication, for tests of transports.
//
// A Network joins Endpoints, which are net.PacketConn values with *net.UDPAddr addresses, so that quic-go, kcp-go and our
// own code run over it unchanged:
//
//	network := linksim.New(seed, linksim.Path{LossPPM: 10_000, Delay: 5 * time.Millisecond})
//	server, err := network.Listen(netip.MustParseAddrPort("10.0.0.1:19342"))
//	client, err := network.Listen(netip.MustParseAddrPort("10.0.0.2:10000"))
//	network.SetPath(server.AddrPort(), client.AddrPort(), linksim.Path{}) // the way back is clean
//
// A direction is an ordered pair of addresses. What happens to the n-th datagram of a direction depends on the seed, the
// direction and n alone: not on the clock, not on other directions, not on the scheduler. Two runs that send the same
// datagrams in the same order see the same fates.
//
// Order of the impairments: blackout, loss, duplication, then for every copy its own delay (Delay, plus a uniform share of
// Jitter, plus ReorderBy for the picked ones), then the queue bound. Copies due at the same instant leave in the order in
// which they were sent; hence a path without Jitter and ReorderPPM never reorders.
//
// There are no goroutines and no sockets. A datagram waits in its receiver's queue until it is due and somebody reads, and
// all waiting goes through package time, so inside a testing/synctest bubble delays are exact and cost no real time.
// QueuePackets bounds what a direction holds, in flight and unread together, as a socket buffer and a queue discipline do.
//
// Every datagram is accounted for: Sent + Duplicated = Lost + BlackedOut + Overflowed + Unreachable + Delivered + Queued.
package linksim

// Package raknet is RakNet, the reliable UDP protocol of game servers, protocol versions 10 and 11, for Linux.
//
// A connection carries whole messages in one of five reliability modes and up to 32 order channels. The calling goroutine does the
// I/O itself: Send transmits before it returns, and a goroutine that waits in Recv reads the sockets of its shard. A background
// goroutine takes over while no caller is inside, so acknowledgements, retransmissions and pings go on whatever the application does.
//
// The first byte of a message must be 0x80 or more; RakNet keeps the lower values for itself. Bedrock Edition uses 0xfe.
//
// RakNet has no secrets. Whoever can read the packets of a connection or forge its source address can disturb it.
package raknet

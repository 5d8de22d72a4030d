//go:build linux

package raknet_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"transportbench/transports/raknet"
)

// An echo server and a client that talks to it.
func Example() {
	l, err := raknet.Listen("127.0.0.1:0", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return // the listener was closed
			}
			go echo(c)
		}
	}()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := raknet.Dial(ctx, l.Addr().String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(ctx, []byte("\xfehello")); err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 1500)
	n, err := c.Recv(ctx, buf)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", buf[:n])
	// Output: "\xfehello"
}

func echo(c *raknet.Conn) {
	defer c.Close()
	for {
		m, err := c.RecvOwned(context.Background())
		if err == io.EOF {
			return // the peer has left
		}
		if err != nil {
			log.Print(err)
			return
		}
		err = c.Send(context.Background(), m.Bytes())
		m.Release()
		if err != nil {
			return
		}
	}
}

// What the server list of Bedrock Edition does: ask a server for its advertisement without connecting.
func ExamplePing() {
	l, err := raknet.Listen("127.0.0.1:0", &raknet.ListenOptions{
		PongData: []byte("MCPE;A server;800;1.21.80;0;20;12345;World;Survival;1;19132;19133;"),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p, err := raknet.Ping(ctx, l.Addr().String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(p.Data[:13]))
	// Output: MCPE;A server
}

// Positions may be lost or overtaken; chat may not. Each has its own order channel.
func ExampleConn_SendMessage() {
	l, err := raknet.Listen("127.0.0.1:0", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := raknet.Dial(ctx, l.Addr().String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, m := range []raknet.Message{
		{Data: []byte("\x80position"), Reliability: raknet.UnreliableSequenced, Channel: 1},
		{Data: []byte("\x81chat"), Reliability: raknet.ReliableOrdered, Channel: 2},
	} {
		if err := c.SendMessage(ctx, m); err != nil {
			log.Fatal(err)
		}
	}
	if err := c.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Stats().Sent, "messages are on their way or there")
	// Output: 2 messages are on their way or there
}

'use strict'
// A peer for the interop tests: node peer.js server|client rust|jsp|serenity PORT
// A server prints "ready" and echoes every message. A client sends the sizes in turn, checks each echo, prints "ok" and disconnects.
const [role, kind, portText] = process.argv.slice(2)
const port = Number(portText)
const host = '127.0.0.1'
const sizes = [64, 800, 4096, 10000]

function message (size, n) {
  const b = Buffer.alloc(size)
  b[0] = 0xfe
  for (let i = 1; i < size; i++) b[i] = (7 * i + n) & 0xff
  return b
}

const servers = {
  async rust () {
    const { RaknetServer } = require('raknet-node')
    const server = await RaknetServer.bind(`${host}:${port}`)
    console.log('ready')
    for (;;) echoRust(await server.accept())
  },
  async jsp () {
    const { Server } = require('jsp-raknet')
    const ServerName = require('jsp-raknet/js/utils/ServerName').default
    const server = new Server(host, port, new ServerName())
    server.close = () => {} // it would stop the whole server when one client leaves
    server.on('encapsulated', (packet, address) => sendJsp(server.connections.get(address.hash), packet.buffer))
    server.on('openConnection', conn => { conn.close = () => {} })
    await server.listen()
    console.log('ready')
  },
  async serenity () {
    const { Server, Frame, Priority, Reliability } = require('@serenityjs/raknet')
    const server = new Server({ address: host, port, maxConnections: 10, message: 'MCPE;test;', validatePort: false }) // a relay has another port
    server.on('encapsulated', (conn, payload) => {
      const frame = new Frame()
      frame.reliability = Reliability.ReliableOrdered
      frame.orderChannel = 0
      frame.payload = Buffer.from(payload)
      conn.sendFrame(frame, Priority.Immediate)
    })
    server.start()
    console.log('ready')
  }
}

async function echoRust (conn) {
  try {
    for (;;) await conn.send(await conn.recv())
  } catch { /* the peer has left */ }
}

function sendJsp (conn, body) {
  const { EncapsulatedPacket, Reliability } = require('jsp-raknet')
  const packet = new EncapsulatedPacket()
  packet.reliability = Reliability.ReliableOrdered
  packet.orderChannel = 0
  packet.buffer = Buffer.from(body)
  conn.addEncapsulatedToQueue(packet, 1)
}

const clients = {
  async rust () {
    const { RaknetClient } = require('raknet-node')
    const conn = await RaknetClient.connect(`${host}:${port}`)
    for (const [n, size] of sizes.entries()) {
      const want = message(size, n)
      await conn.send(want)
      check(await conn.recv(), want)
    }
    conn.close()
  },
  async jsp () {
    const { Client } = require('jsp-raknet')
    const client = new Client(host, port)
    const connected = new Promise(resolve => client.once('connected', resolve))
    client.connect()
    await connected
    for (const [n, size] of sizes.entries()) {
      const want = message(size, n)
      const echo = new Promise(resolve => client.once('encapsulated', resolve))
      sendJsp(client.connection, want)
      check((await echo).buffer, want)
    }
    client.close()
  }
}

function check (got, want) {
  if (Buffer.compare(Buffer.from(got), want) !== 0) throw new Error(`echo of ${want.length} bytes is wrong`)
}

const run = (role === 'server' ? servers : clients)[kind]
if (!run) {
  console.log(`unsupported: ${kind} has no ${role}`)
  process.exit(127)
}
run().then(() => {
  if (role === 'server') return
  console.log('ok')
  setTimeout(() => process.exit(0), 200) // for the notices of the end
}).catch(err => {
  console.error(err)
  process.exit(1)
})

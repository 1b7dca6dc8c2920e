// A DNS server on loopback, with UDP and TCP on one port, that does whatever a test requires. It records the queries.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { decodeMessage, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { encodeName, type Name } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { encodeMessage } from '../answer/encode-message.ts';
import { listenBoth } from './fake-internet.ts';
import { replyTo } from './world-server.ts';

export interface Seen {
  readonly octets: Buffer;
  readonly query: Message;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
  /** Number of the query, starting at 0. */
  readonly index: number;
}

export interface Behaviour {
  /** If absent, the server is silent. */
  readonly udp?: (seen: Seen, send: (octets: Uint8Array) => void) => void;
  /** If absent, connections are refused. */
  readonly tcp?: (seen: Seen, socket: Socket) => void;
  readonly address?: string;
}

export interface MisbehavingServer {
  readonly address: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

export async function misbehave(behaviour: Behaviour): Promise<MisbehavingServer> {
  const address = behaviour.address ?? '127.0.0.1';
  const seen: Seen[] = [];
  const see = (octets: Buffer, port: number, transport: 'udp' | 'tcp'): Seen => {
    const entry = { octets, query: decodeMessage(octets), port, transport, index: seen.length };
    seen.push(entry);
    return entry;
  };
  const connections = new Set<Socket>();
  const { tcp } = behaviour;
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    let input = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk]);
      if (input.length < 2 || input.length < 2 + input.readUInt16BE(0)) return;
      tcp?.(see(input.subarray(2, 2 + input.readUInt16BE(0)), socket.remotePort as number, 'tcp'), socket);
      input = Buffer.alloc(0);
    });
  });
  const place = { address, port: 0 };
  const udp = tcp === undefined ? await bindUdp(address) : (await listenBoth(server, place)).udp;
  const { port } = udp.address();
  udp.on('message', (octets, from) => {
    behaviour.udp?.(see(octets, from.port, 'udp'), (reply) => udp.send(reply, from.port, from.address));
  });
  return {
    address,
    port,
    seen,
    async close() {
      udp.close();
      for (const socket of connections) socket.destroy();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

/** Binds another port of the same address, to answer from a port that was not queried. */
export async function bindUdp(address: string): Promise<UdpSocket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('error', () => {}); // ICMP errors of clients that have ended
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket;
}

/** Returns the reply of a correct server: the same question, and the NS set in the answer section. */
export function rightReply(
  query: Message,
  nameservers: readonly Name[],
  change: Partial<Message> = {},
): Message {
  const owner = query.questions[0]?.name as Name;
  const answers: MessageRecord[] = nameservers.map((ns) => ({
    owner,
    type: TYPE.NS,
    class: CLASS.IN,
    ttl: 3600,
    rdata: Uint8Array.from(encodeName(ns)),
  }));
  return replyTo(query, { aa: true, rd: false, answers, ...change });
}

export function rightOctets(
  query: Message,
  nameservers: readonly Name[],
  change: Partial<Message> = {},
): Uint8Array {
  return encodeMessage(rightReply(query, nameservers, change));
}

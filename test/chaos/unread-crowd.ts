// TCP connections that pipeline queries and read no answer; they come back when they are closed. A process of its own, so that
// what they cost is not measured at the client beside them.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { TYPE } from '../../src/dns/type-codes.ts';
import { queryFor } from '../support/answer/packets.ts';
import { framed } from '../support/answer/sockets.ts';

export interface Crowd {
  readonly dns: { readonly address: string; readonly port: number };
  /** Each opens `each` connections: 127.0.0.2, 127.0.0.3 and so on. */
  readonly clients: number;
  readonly each: number;
  readonly queries: number;
  /** Asked for with type TXT. */
  readonly name: string;
}

const RECONNECT_MS = 10;

/** Resolves when all have begun to connect. */
export async function sendCrowd(crowd: Crowd): Promise<ChildProcess> {
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(crowd)], {
    execArgv: ['--import', tsx],
  });
  await once(child, 'message');
  return child;
}

function connectAll({ dns, clients, each, queries, name }: Crowd): void {
  const packets = framed(...Array.from({ length: queries }, (_, id) => queryFor(name, TYPE.TXT, { id })));
  const open = (localAddress: string): void => {
    const socket = connect({ host: dns.address, port: dns.port, localAddress });
    socket.pause();
    socket.on('error', () => {}); // a close follows
    socket.on('connect', () => socket.write(packets));
    socket.on('close', () => setTimeout(open, RECONNECT_MS, localAddress));
  };
  for (let i = 0; i < clients * each; i++) open(`127.0.0.${2 + (i % clients)}`);
  process.send?.('connecting');
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) connectAll(JSON.parse(process.argv[2] ?? ''));

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { TRANSPORT } from '../../../src/nameserver/answer/transports.ts';
import { HELD_BY_SYSTEM_BYTES } from '../../../src/nameserver/tcp/open-servers.ts';
import { TcpConnection } from '../../../src/nameserver/tcp/tcp-connection.ts';
import { TcpNetwork } from '../../../src/nameserver/tcp/tcp-network.ts';
import { TcpTurns } from '../../../src/nameserver/tcp/tcp-turns.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { testNode } from '../../support/answer/test-node.ts';

const QUERY = queryFor('www.example.test.', TYPE.A);

async function rounds(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextRound();
}

/** A connection over TLS whose system accepts answers only when told to. */
function connectionOverTls() {
  const accepts: (() => void)[] = [];
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => void accepts.push(done) });
  const node = testNode();
  const counted: number[] = [];
  const owner = {
    answers: { ...node, transport: TRANSPORT.TLS },
    turns: new TcpTurns(node.counters, () => 0),
    now: () => 0,
    progress() {},
    leave: () => true,
    hold(connection: TcpConnection, bytes: number) {
      connection.heldBytes += bytes;
      counted.push(bytes);
    },
    release(connection: TcpConnection) {
      connection.heldBytes = 0;
    },
  };
  const network = new TcpNetwork('client', 1000, 0);
  const connection = new TcpConnection(
    socket as unknown as Socket,
    Uint8Array.of(192, 0, 2, 1),
    network,
    owner,
  );
  const ask = async () => {
    socket.push(Buffer.concat([Buffer.of(0, QUERY.length), QUERY]));
    await rounds();
  };
  const accept = async () => {
    for (const done of accepts.splice(0)) done();
    await rounds();
  };
  const answered = () => [...node.counters.answerCounts()].reduce((sum, { count }) => sum + count, 0);
  return { connection, counted, ask, accept, answered };
}

it('counts answers over TLS that the peer has not read by the second sweep, and waits for the peer', async () => {
  const { connection, counted, ask, accept, answered } = connectionOverTls();
  await ask();
  await accept();
  await ask();
  connection.sweep(); // some answers were accepted
  expect([answered(), counted]).toEqual([2, []]);
  connection.sweep();
  await ask();
  expect([answered(), counted]).toEqual([2, [expect.any(Number)]]);
  await accept();
  expect([answered(), connection.heldBytes]).toEqual([3, 0]);
});

it('counts a part of a transfer over TLS only if the peer does not read it', async () => {
  const { connection, counted, accept } = connectionOverTls();
  const part = new Uint8Array(50_000);
  for (let i = 0; i < 3; i++) {
    connection.sendPart(part);
    await accept();
    connection.sweep();
  }
  expect(counted).toEqual([]);
  connection.sendPart(part);
  connection.sweep(); // the last part was accepted since the previous sweep
  connection.sweep();
  expect(counted).toEqual([50_000 + HELD_BY_SYSTEM_BYTES]);
});

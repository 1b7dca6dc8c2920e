// 1,900 TCP connections ask for large answers and read none; they come back when they are closed. A client beside them asks on.

import { connect, type Socket } from 'node:net';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/packets.ts';
import { framed, TcpClient } from '../../support/sockets.ts';
import { makeTexts } from '../large-texts.ts';
import type { Scenario } from '../scenario.ts';
import { DOMAIN, type Stage } from '../stage.ts';

const ADDRESSES = 19;
/** What one address may have. */
const EACH = 100;
const TEXTS = 60;
const QUERIES = 1000;
const LASTS_MS = 15_000;
const WORST_MS = 200;
const MEMORY_MIB = 300;

export const unreadAnswers: Scenario = {
  name: 'unread-answers',
  attack: `${ADDRESSES * EACH} TCP connections that pipeline queries for 60 KB answers and never read`,
  async run(stage) {
    await makeTexts(stage, ['large'], TEXTS);
    const before = stage.memoryOf('nameserver');
    const client = await TcpClient.open(stage.dns);
    const query = framed(queryFor(`www.${DOMAIN}.`, TYPE.A));
    await askUntil(client, query, performance.now() + 1000);
    const stop = attack(stage);
    const { worstMs, lost } = await askUntil(client, query, performance.now() + LASTS_MS);
    const grown = (stage.memoryOf('nameserver') - before) / 2 ** 20;
    stop();
    client.close();
    stage.faultEnds();
    return [
      {
        label: 'worst answer to a client on TCP',
        text: `${Math.round(worstMs)} ms`,
        isMet: worstMs <= WORST_MS,
      },
      { label: 'its connection', text: lost ? 'lost' : 'kept', isMet: !lost },
      { label: 'memory', text: `+${Math.round(grown)} MiB`, isMet: grown <= MEMORY_MIB },
    ];
  },
};

function attack(stage: Stage): () => void {
  const queries = framed(
    ...Array.from({ length: QUERIES }, (_, id) => queryFor(`large.${DOMAIN}.`, TYPE.TXT, { id })),
  );
  const open = new Set<Socket>();
  let isOver = false;
  const begin = (localAddress: string): void => {
    if (isOver) return;
    const socket = connect({ host: stage.dns.address, port: stage.dns.port, localAddress });
    open.add(socket);
    socket.pause();
    socket.on('error', () => {});
    socket.on('connect', () => socket.write(queries));
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(begin, 10, localAddress);
    });
  };
  for (let i = 0; i < ADDRESSES * EACH; i++) begin(`127.0.0.${2 + (i % ADDRESSES)}`);
  return () => {
    isOver = true;
    for (const socket of open) socket.destroy();
  };
}

async function askUntil(
  client: TcpClient,
  query: Uint8Array,
  endMs: number,
): Promise<{ worstMs: number; lost: boolean }> {
  let worstMs = 0;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const count = client.messages.length + 1;
    client.socket.write(query);
    try {
      await client.received(count, LASTS_MS);
    } catch {
      return { worstMs: performance.now() - startMs, lost: true };
    }
    worstMs = Math.max(worstMs, performance.now() - startMs);
  }
  return { worstMs, lost: false };
}

// 1,900 TCP connections ask for large answers and read none; they come back when they are closed. A client beside them asks on.

import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { framed, TcpClient } from '../../support/answer/sockets.ts';
import { makeTexts } from '../large-texts.ts';
import type { Scenario } from '../scenario.ts';
import { DOMAIN } from '../stage.ts';
import { sendCrowd } from '../unread-crowd.ts';

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
    const crowd = await sendCrowd({
      dns: stage.dns,
      clients: ADDRESSES,
      each: EACH,
      queries: QUERIES,
      name: `large.${DOMAIN}.`,
    });
    const { worstMs, lost } = await askUntil(client, query, performance.now() + LASTS_MS);
    const grown = (stage.memoryOf('nameserver') - before) / 2 ** 20;
    crowd.kill('SIGKILL');
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

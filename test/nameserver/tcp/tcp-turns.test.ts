// The order in which TCP connections are answered, with connections that only count their turns.

import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { type NetworkConnection, TcpNetwork } from '../../../src/nameserver/tcp/tcp-network.ts';
import { TcpTurns } from '../../../src/nameserver/tcp/tcp-turns.ts';

/** The cost of a turn with one answer of 60 KiB. */
const LARGE_COST = 62;
const CONNECTIONS = 500;

let answered: string[] = [];

function connectionOf(name: string): NetworkConnection {
  const connection = {
    network: new TcpNetwork(name, Number.POSITIVE_INFINITY, 0),
    hasQueries: true,
    answerSome() {
      connection.hasQueries = false;
      answered.push(name);
      return LARGE_COST;
    },
    hold() {},
    release() {},
    destroy() {},
  };
  return connection;
}

it('a crowd is accepted with few answers in between, and answered in order after all are accepted', async () => {
  answered = [];
  const turns = new TcpTurns(new QueryCounters(), () => 0);
  const names = Array.from({ length: CONNECTIONS }, (_, i) => `n${i}`);
  for (const name of names) {
    turns.noteAccepted();
    turns.take(connectionOf(name));
    await nextRound();
  }
  expect(answered.length).toBeGreaterThan(CONNECTIONS / 20); // the others do not wait for the whole crowd
  expect(answered.length).toBeLessThan(CONNECTIONS / 5);
  for (let i = 0; i < CONNECTIONS && answered.length < CONNECTIONS; i++) await nextRound();
  expect(answered).toEqual(names);
});

it('a turn that costs more than a round has left shortens the next rounds', async () => {
  answered = [];
  const turns = new TcpTurns(new QueryCounters(), () => 0);
  for (let i = 0; i < 100; i++) turns.take(connectionOf(`n${i}`));
  const each: number[] = [];
  for (let before = 0; answered.length < 100; before = answered.length) {
    each.push(answered.length - before);
    await nextRound();
  }
  expect(Math.max(...each)).toBeLessThanOrEqual(17); // of 62 each: 1,024, plus the one that exceeds it
});

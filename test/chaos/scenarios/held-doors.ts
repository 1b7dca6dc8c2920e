// Callers without a key hold connections of the API: headers that never end, responses that they do not read, wrong keys.

import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import type { Figure, Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const DRIBBLERS = 3000;
const DRIBBLE_MS = 2000;
const LAZY = 1000;
const PIPELINED = 20;
const WRONG_KEYS = 40_000;
const AT_ONCE = 64;
const WRONG_FOR_MS = 15_000;
const MB = 1024 * 1024;

export const heldDoors: Scenario = {
  name: 'held-doors',
  attack: '3,000 endless headers, 1,000 callers that do not read, wrong keys as fast as they go',
  async run(stage) {
    return [...(await dribble(stage)), ...(await doNotRead(stage)), ...(await guessKeys(stage))];
  },
};

async function open(stage: Stage, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    sockets.push(connect(stage.apiPort, '127.0.0.1').on('error', () => {}));
    if (i % 100 === 99) await pause(20);
  }
  return sockets;
}

const alive = (sockets: readonly Socket[]) =>
  sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length;

async function dribble(stage: Stage): Promise<Figure[]> {
  const sockets = await open(stage, DRIBBLERS);
  for (const socket of sockets) {
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: ');
  }
  const dribbling = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }, DRIBBLE_MS);
  const beganMs = performance.now();
  const [pid] = stage.pids('api');
  let most = 0;
  let left = DRIBBLERS;
  while (left > 0 && performance.now() - beganMs < 60_000) {
    await pause(1000);
    left = alive(sockets);
    most = Math.max(most, readdirSync(`/proc/${pid}/fd`).length);
  }
  const seconds = Math.round((performance.now() - beganMs) / 1000);
  clearInterval(dribbling);
  for (const socket of sockets) socket.destroy();
  return [
    { label: "the API's descriptors", text: String(most), isMet: most <= 400 },
    { label: 'endless headers left', text: `${left} after ${seconds} s`, isMet: left === 0 && seconds < 40 },
  ];
}

async function doNotRead(stage: Stage): Promise<Figure[]> {
  const before = stage.memoryOf('api');
  const sockets = await open(stage, LAZY);
  for (const socket of sockets) {
    socket.pause();
    socket.write('GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED));
  }
  let most = before;
  for (let second = 0; second < 20; second++) {
    await pause(1000);
    most = Math.max(most, stage.memoryOf('api'));
  }
  for (const socket of sockets) socket.destroy();
  const more = Math.round((most - before) / MB);
  return [{ label: 'memory for unread answers', text: `${more} MB`, isMet: more <= 200 }];
}

async function guessKeys(stage: Stage): Promise<Figure[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const endMs = performance.now() + WRONG_FOR_MS;
  const statementsBefore = await statements(stage);
  let sent = 0;
  const guess = async () => {
    while (performance.now() < endMs && sent < WRONG_KEYS) {
      sent++;
      await new Promise<void>((done) => {
        const headers = { 'x-api-key': generateKey() };
        request({ agent, host: '127.0.0.1', port: stage.apiPort, path: '/domains/', headers }, (response) => {
          response.resume().on('end', done).on('error', done);
        })
          .on('error', () => done())
          .end();
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, guess));
  agent.destroy();
  await pause(1500); // Postgres counts with a delay of a second
  const asked = (await statements(stage)) - statementsBefore;
  return [{ label: 'transactions for wrong keys', text: `${asked} for ${sent} keys`, isMet: asked < 5000 }];
}

/** Transactions since the database is there: the witness's, too. */
async function statements(stage: Stage): Promise<number> {
  return await stage.withDatabase(async (db) => {
    const { rows } = await sql<{ count: number }>`
      select xact_commit::integer as count from pg_stat_database where datname = current_database()`.execute(
      db,
    );
    return rows[0]?.count ?? 0;
  });
}

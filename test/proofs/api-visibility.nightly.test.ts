// How long it takes from an edit through the API until three nameserver processes answer it, at 100 edits a second; and
// that `in_sync` is not true before they do.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { queryFor } from '../support/answer/queries.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

const EDITS = scale(1000, 60);
const WARMING = 20;
const EDITS_PER_SECOND = 100;
/** Edits of one domain wait for each other; those of a fleet's customers do not. */
const DOMAINS = 25;
/** Each host is edited once, so that no edit is overtaken by the next. */
const HOSTS_EACH = Math.ceil((EDITS + WARMING) / DOMAINS);
const SYNC_EVERY = 10;

let database: TestDatabase;
let api: ApiProcess;
let nodes: NodeProcess[];
let askers: Asker[];

beforeAll(async () => {
  database = await createDatabase();
  api = await startApi(database.url);
  nodes = await Promise.all(
    ['v1', 'v2', 'v3'].map((name) => startNode(name, { DATABASE_URL: database.url })),
  );
  askers = await Promise.all(nodes.map(({ address }) => Asker.open(address.port)));
});

afterAll(async () => {
  for (const asker of askers ?? []) asker.close();
  await Promise.all([api, ...(nodes ?? [])].map((one) => one?.stop()));
  await database?.drop();
});

/** Asks one nameserver for addresses. */
class Asker {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (address: string) => void>();
  #id = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (answer) => {
      // without OPT and more than one record the address stands at the end
      const address = answer.readUInt16BE(6) === 1 ? answer.subarray(-4).join('.') : '';
      this.#waiting.get(answer.readUInt16BE(0))?.(address);
    });
  }

  static async open(port: number): Promise<Asker> {
    const socket = createSocket('udp4');
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Asker(socket);
  }

  /** '' for no address, and for no answer within 100 ms. */
  ask(name: string): Promise<string> {
    this.#id = (this.#id + 1) & 0xffff;
    const id = this.#id;
    const query = queryFor({ name: parseName(`${name}.`), type: TYPE.A, udpPayloadSize: undefined }, id);
    return new Promise((resolve) => {
      const done = (address: string): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(address);
      };
      const timer = setTimeout(done, 100, '');
      this.#waiting.set(id, done);
      this.#socket.send(query, () => {}); // a closed one answers nothing
    });
  }

  close(): void {
    this.#socket.close();
  }
}

interface Timed {
  readonly sentMs: number;
  readonly respondedMs: number;
  readonly answeredMs: number;
  /** When the API said `in_sync`; undefined where it was not asked. */
  readonly syncedMs: number | undefined;
}

/** Which of the nodes lacked the edit when `in_sync` was true. */
const early: string[] = [];

interface Host {
  readonly domain: string;
  readonly id: number;
  readonly name: string;
}

async function edit({ domain, id, name: host }: Host, number: number): Promise<Timed> {
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const sentMs = performance.now();
  const { status, headers } = await api.ask('PUT', `/domains/${domain}/records/${id}`, {
    destination: address,
  });
  const respondedMs = performance.now();
  if (status !== 200) throw new Error(`the edit was answered ${status}`);
  // looked for from here on only: who answers earlier is counted as answering now
  const answered = Promise.all(askers.map((asker) => answers(asker, host, address)));
  let syncedMs: number | undefined;
  if (number % SYNC_EVERY === 0) {
    const change = await api.ask('GET', `/domains/${domain}/changes/${headers['x-change-id']}?wait=10`);
    syncedMs = performance.now();
    const now = await Promise.all(askers.map((asker) => asker.ask(host)));
    if (change.body.in_sync !== true)
      throw new Error(`not in sync within 10 s: ${JSON.stringify(change.body.nodes)}`);
    if (change.body.nodes.seen !== 3) early.push(`${change.body.nodes.seen} nodes of 3`);
    for (const [i, seen] of now.entries())
      if (seen !== address) early.push(`${nodes[i]?.name}: ${seen}, not ${address}`);
  }
  return { sentMs, respondedMs, answeredMs: Math.max(...(await answered)), syncedMs };
}

async function answers(asker: Asker, host: string, address: string): Promise<number> {
  const deadlineMs = performance.now() + 20_000;
  for (let waitMs = 4; performance.now() < deadlineMs; waitMs = Math.min(20, waitMs * 1.5)) {
    if ((await asker.ask(host)) === address) return performance.now();
    await pause(waitMs);
  }
  throw new Error(`${host} is not ${address} within 20 s`);
}

function figures(name: string, times: number[]): { p99: number; text: string } {
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
  const text = `${name} p50 ${at(0.5).toFixed(1)} p99 ${at(0.99).toFixed(1)} max ${at(1).toFixed(1)} ms`;
  return { p99: at(0.99), text };
}

async function makeHosts(domain: string): Promise<Host[]> {
  expect((await api.ask('POST', '/domains/', { name: domain, scan: false })).status).toBe(200);
  const create = Array.from({ length: HOSTS_EACH }, (_, i) => ({
    name: `e${i}`,
    type: 'A',
    destination: '192.0.2.1',
  }));
  expect((await api.ask('PUT', `/domains/${domain}/records/batch`, { create })).status).toBe(200);
  const { body } = await api.ask('GET', `/domains/${domain}/records/?type=A`);
  return body.map(({ id, name }: { id: number; name: string }) => ({
    domain,
    id,
    name: `${name}.${domain}`,
  }));
}

test(`an edit is answered by three nodes soon, and in_sync is never early (${EDITS} edits)`, async () => {
  const hosts = await Promise.all(Array.from({ length: DOMAINS }, (_, i) => makeHosts(`visible-${i}.com`)));
  const hostOf = (number: number): Host =>
    (hosts[number % DOMAINS] as Host[])[Math.floor(number / DOMAINS)] as Host; // the next one in another domain
  await until(async () => {
    const seen = await Promise.all(
      askers.flatMap((asker) => hosts.map(([first]) => asker.ask((first as Host).name))),
    );
    return seen.every((address) => address === '192.0.2.1');
  }, 'the nodes serve the domains');
  for (let i = 0; i < WARMING; i++) await edit(hostOf(i), i); // warm, as a process that has run for a while

  const startMs = performance.now();
  const running: Promise<Timed>[] = [];
  for (let i = 0; i < EDITS; i++) {
    const number = WARMING + i;
    await pause(Math.max(0, startMs + (i * 1000) / EDITS_PER_SECOND - performance.now()));
    running.push(edit(hostOf(number), number));
  }
  const timed = await Promise.all(running);
  const perSecond = (EDITS * 1000) / ((timed.at(-1)?.sentMs as number) - startMs + 1000 / EDITS_PER_SECOND);
  const whole = figures(
    'sent → answered',
    timed.map(({ sentMs, answeredMs }) => answeredMs - sentMs),
  );
  const rest = figures(
    'acknowledged → answered',
    timed.map((t) => Math.max(0, t.answeredMs - t.respondedMs)),
  );
  const response = figures(
    'response',
    timed.map(({ sentMs, respondedMs }) => respondedMs - sentMs),
  );
  const sync = figures(
    'answered → in_sync',
    timed.flatMap(({ answeredMs, syncedMs }) => (syncedMs === undefined ? [] : [syncedMs - answeredMs])),
  );
  const texts = [whole, rest, response, sync].map(({ text }) => text).join('; ');
  console.info(`${EDITS} edits at ${perSecond.toFixed(0)}/s, three nodes: ${texts}`);
  expect(early).toEqual([]);
});

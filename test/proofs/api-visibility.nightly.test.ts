// At 100 edits a second through the API, three nameserver processes answer each edit, and `in_sync` is not true before they do.

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
const EDITS_PER_SECOND = 100;
/** Edits of one domain wait for each other; those of a fleet's customers do not. */
const DOMAINS = 25;
/** Each host is edited once, so that no edit is overtaken by the next. */
const HOSTS_EACH = Math.ceil(EDITS / DOMAINS);
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

/** Which of the nodes lacked the edit when `in_sync` was true. */
const early: string[] = [];

interface Host {
  readonly domain: string;
  readonly id: number;
  readonly name: string;
}

async function edit({ domain, id, name: host }: Host, number: number): Promise<void> {
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const { status, headers } = await api.ask('PUT', `/domains/${domain}/records/${id}`, {
    destination: address,
  });
  if (status !== 200) throw new Error(`the edit was answered ${status}`);
  const answered = Promise.all(askers.map((asker) => answers(asker, host, address)));
  if (number % SYNC_EVERY === 0) {
    const change = await api.ask('GET', `/domains/${domain}/changes/${headers['x-change-id']}?wait=10`);
    const now = await Promise.all(askers.map((asker) => asker.ask(host)));
    if (change.body.in_sync !== true)
      throw new Error(`not in sync within 10 s: ${JSON.stringify(change.body.nodes)}`);
    if (change.body.nodes.seen !== 3) early.push(`${change.body.nodes.seen} nodes of 3`);
    for (const [i, seen] of now.entries())
      if (seen !== address) early.push(`${nodes[i]?.name}: ${seen}, not ${address}`);
  }
  await answered;
}

async function answers(asker: Asker, host: string, address: string): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  for (let waitMs = 4; performance.now() < deadlineMs; waitMs = Math.min(20, waitMs * 1.5)) {
    if ((await asker.ask(host)) === address) return;
    await pause(waitMs);
  }
  throw new Error(`${host} is not ${address} within 20 s`);
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

test(`an edit is answered by three nodes, and in_sync is never early (${EDITS} edits)`, async () => {
  const hosts = await Promise.all(Array.from({ length: DOMAINS }, (_, i) => makeHosts(`visible-${i}.com`)));
  const hostOf = (number: number): Host =>
    (hosts[number % DOMAINS] as Host[])[Math.floor(number / DOMAINS)] as Host; // the next one in another domain
  await until(async () => {
    const seen = await Promise.all(
      askers.flatMap((asker) => hosts.map(([first]) => asker.ask((first as Host).name))),
    );
    return seen.every((address) => address === '192.0.2.1');
  }, 'the nodes serve the domains');
  const startMs = performance.now();
  const running: Promise<void>[] = [];
  for (let i = 0; i < EDITS; i++) {
    await pause(Math.max(0, startMs + (i * 1000) / EDITS_PER_SECOND - performance.now()));
    running.push(edit(hostOf(i), i));
  }
  await Promise.all(running);
  expect(early).toEqual([]);
});

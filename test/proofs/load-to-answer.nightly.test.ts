// How soon three nameserver processes answer what the command line has loaded: from the change's own time, which is a
// little before its commit, to the first answer with the new serial. What fails a test is a node that never answers.

import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { queryFor } from '../support/answer/queries.ts';
import { runCli } from '../support/cli/run-cli.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

const LOADS = scale(200, 5);
const ASK_EACH_MS = 2;
const APEX = 'visible.example.';
const QUESTION = queryFor({ name: parseName(APEX), type: TYPE.SOA, udpPayloadSize: undefined });

let database: TestDatabase;
let directory: string;
let nodes: NodeProcess[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zonefleet-visibility-'));
  database = await createDatabase();
  await load(1);
  nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => startNode(`visible-${name}`, { DATABASE_URL: database.url })),
  );
});

afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.stop()));
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

test(`${LOADS} loads by the command line are answered by three nodes`, async () => {
  const watches = nodes.map((node) => new SerialWatch(node.address.port));
  const delaysMs: number[] = [];
  try {
    for (let serial = 2; serial <= LOADS + 1; serial++) {
      await load(serial);
      await until(
        () => watches.every((watch) => watch.seenAt.has(serial)),
        `every node answers serial ${serial}`,
      );
      const { at } = await database.db
        .selectFrom('changes')
        .select('at')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      const last = Math.max(...watches.map((watch) => watch.seenAt.get(serial) as number));
      delaysMs.push(last - at.getTime());
    }
  } finally {
    for (const watch of watches) watch.stop();
  }
  delaysMs.sort((a, b) => a - b);
  const rank = (share: number) => delaysMs[Math.ceil(share * delaysMs.length) - 1];
  console.log(
    `answered by the last of 3 nodes: p50 ${rank(0.5)} ms, p99 ${rank(0.99)} ms, worst ${rank(1)} ms`,
  );
  expect(delaysMs).toHaveLength(LOADS);
});

async function load(serial: number): Promise<void> {
  const file = join(directory, 'visible.example.zone');
  await writeFile(
    file,
    `@ 300 SOA ns1 hostmaster ${serial} 3600 600 86400 300\n@ 300 NS ns1\nns1 300 A 192.0.2.${serial % 250}\n`,
  );
  const run = await runCli(['zone', 'load', '--origin', APEX, file], { databaseUrl: database.url });
  if (run.code !== 0) throw new Error(`zone load: ${run.stderr}`);
}

/** Asks a node for the SOA again and again and notes when each serial came first (milliseconds since 1970). */
class SerialWatch {
  readonly seenAt = new Map<number, number>();
  readonly #socket: Socket = createSocket('udp4');
  #running = true;

  constructor(port: number) {
    this.#socket.on('message', (answer) => {
      const rdata = decodeMessage(answer).answers[0]?.rdata;
      if (rdata === undefined) return;
      const serial = Buffer.from(rdata).readUInt32BE(rdata.length - 20);
      if (!this.seenAt.has(serial)) this.seenAt.set(serial, Date.now());
    });
    void this.#ask(port);
  }

  async #ask(port: number): Promise<void> {
    while (this.#running) {
      this.#socket.send(QUESTION, port, '127.0.0.1');
      await pause(ASK_EACH_MS);
    }
    this.#socket.close();
  }

  stop(): void {
    this.#running = false;
  }
}

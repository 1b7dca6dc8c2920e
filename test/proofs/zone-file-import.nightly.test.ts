// A zone file of a whole company, parsed and imported through the API in one change, and answered by a node; each
// wrong line is reported, and all others are imported.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { queryFor } from '../support/answer/queries.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';

const RECORDS = scale(50_000, 3_000);
const WRONG_EVERY = 500;
const DOMAIN = 'company.com';
const PATH = `/domains/${DOMAIN}/records/`;

let database: TestDatabase;
let api: ApiProcess;
let node: NodeProcess;

beforeAll(async () => {
  database = await createDatabase();
  api = await startApi(database.url, { env: { ALLOW_RESERVED_NAMES: 'on' } });
  node = await startNode('importer', { DATABASE_URL: database.url });
});

afterAll(async () => {
  await Promise.all([api?.stop(), node?.stop()]);
  await database?.drop();
});

const LINES: readonly ((i: number) => string)[] = [
  (i) => `host${i} A 192.0.${(i >> 8) & 255}.${i & 255}`,
  (i) => `host${i - 1} AAAA 2001:db8::${i.toString(16)} ; a comment of the owner`,
  (i) => `www${i}.shop 3600 IN CNAME host${i - 2}`,
  (i) => `dept${i} MX 10 mail${i % 7}.example.net.\n\tMX 20 mail.example.org.`,
  (i) => `note${i} TXT "v=spf1 include:_spf${i}.example.net -all" ; zonefleet comment="note; ${i}"`,
  (i) => `_sip._tcp.dept${i} SRV 10 5 5060 host${i - 5}`,
];
const WRONG: readonly string[] = [
  'bad A 192.0.2.256',
  'bad..name A 192.0.2.1\n\tTXT "of an unknown owner"',
  'bad MX mail.example.net.',
  'bad TXT "not closed',
  'outside.example. A 192.0.2.1',
  '$INCLUDE secrets.zone',
  'bad BOGUS x',
];

/** The text, how many records of it are good, and the lines that are not. */
function zoneFile(): { text: string; good: number; wrong: number[] } {
  const lines = [
    '$TTL 1800',
    `@ SOA ns1.old.example. hostmaster 1 7200 900 1209600 300`,
    '@ NS ns1.old.example.',
  ];
  const wrong: number[] = [];
  let good = 0;
  for (let i = 0; good < RECORDS; i++) {
    const added = (LINES[i % LINES.length] as (i: number) => string)(i).split('\n');
    lines.push(...added);
    good += added.length;
    if (i % WRONG_EVERY !== 0) continue;
    for (const line of (WRONG[(i / WRONG_EVERY) % WRONG.length] as string).split('\n')) {
      lines.push(line);
      wrong.push(lines.length);
    }
  }
  return { text: lines.join('\n'), good, wrong };
}

/** Asks until there is an answer. */
async function untilAnswered(name: string, type: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let answered = false;
  socket.on('message', (message) => {
    answered ||= message.readUInt16BE(6) > 0;
  });
  const query = queryFor({ name: parseName(name), type, udpPayloadSize: undefined });
  while (!answered) {
    socket.send(query, node.address.port, node.address.address);
    await pause(5);
  }
  socket.close();
}

test(`a zone file of ${RECORDS} records is parsed, imported in one change and answered`, async () => {
  const made = await api.ask('POST', '/domains/', { name: DOMAIN, scan: false });
  const { text, good, wrong } = zoneFile();
  const parsed = await api.ask('POST', `${PATH}import/parse`, { zone_file: text });
  expect(parsed.status).toBe(200);
  expect(parsed.body.records).toHaveLength(good);
  expect([...new Set(parsed.body.errors.map((e: { line: number }) => e.line))]).toEqual(wrong);
  expect(parsed.body.skipped.map((s: { type: string }) => s.type)).toEqual(['SOA', 'NS']);

  const last = parsed.body.records.findLast((r: { type: string }) => r.type === 'A').name;
  const answering = untilAnswered(`${last}.${DOMAIN}.`, TYPE.A);
  const imported = await api.ask('POST', `${PATH}import`, { records: parsed.body.records });
  await answering;
  expect(imported.body).toMatchObject({ created: good, overwritten: 0, removed: 0, failed: [], serial: 2 });
  expect(await checkPublished(database.db, made.body.id)).toEqual([]);

  const changes = await api.ask('GET', `/domains/${DOMAIN}/changes?limit=2`);
  expect(changes.body[0]).toMatchObject({ id: imported.body.change_id, source: 'import', serial: 2 });
  const withoutTxt = parsed.body.records.filter((r: { type: string }) => r.type !== 'TXT');
  const again = await api.ask('POST', `${PATH}import`, { records: withoutTxt });
  expect(again.body).toMatchObject({ created: 0, overwritten: withoutTxt.length, failed: [], serial: 2 });
});

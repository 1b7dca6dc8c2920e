// A zone file of a whole company, parsed and imported through the API in one change, and answered by a node; each
// wrong line told, all others in. And an export is what any peer serves as we do.

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldCase, type Name, parentOf, parseName, prependLabel, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import type { Zone } from '../../src/zone/zone.ts';
import { explain } from '../support/answer/accepted-differences.ts';
import { describeObserved, isSame, observe } from '../support/answer/observed-answer.ts';
import { queryFor } from '../support/answer/queries.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { askMany, isInstalled, startPeer } from '../support/peers/peers.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

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

/** The longest time that the API kept a small question waiting. */
function watchLatency(): { stop: () => Promise<number> } {
  let isOver = false;
  let longestMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await api.ask('GET', '/healthz');
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      await pause(20);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return longestMs;
    },
  };
}

test(`a zone file of ${RECORDS} records is parsed, imported in one change and answered`, async () => {
  const made = await api.ask('POST', '/domains/', { name: DOMAIN, scan: false });
  const { text, good, wrong } = zoneFile();
  const latency = watchLatency();

  const startedMs = performance.now();
  const parsed = await api.ask('POST', `${PATH}import/parse`, { zone_file: text });
  const parsedMs = performance.now() - startedMs;
  expect(parsed.status).toBe(200);
  expect(parsed.body.records).toHaveLength(good);
  expect([...new Set(parsed.body.errors.map((e: { line: number }) => e.line))]).toEqual(wrong);
  expect(parsed.body.skipped.map((s: { type: string }) => s.type)).toEqual(['SOA', 'NS']);

  const importingMs = performance.now();
  const last = parsed.body.records.findLast((r: { type: string }) => r.type === 'A').name;
  const answering = untilAnswered(`${last}.${DOMAIN}.`, TYPE.A).then(() => performance.now());
  const imported = await api.ask('POST', `${PATH}import`, { records: parsed.body.records });
  const doneMs = performance.now();
  const answeredMs = (await answering) - doneMs;
  const stalledMs = await latency.stop();
  console.info(
    `${good} records: parsed in ${parsedMs.toFixed(0)} ms, imported in ${(doneMs - importingMs).toFixed(0)} ms, ` +
      `answered ${answeredMs.toFixed(0)} ms after; others waited up to ${stalledMs.toFixed(0)} ms`,
  );
  expect(imported.body).toMatchObject({ created: good, overwritten: 0, removed: 0, failed: [], serial: 2 });
  expect(await checkPublished(database.db, made.body.id)).toEqual([]);

  const changes = await api.ask('GET', `/domains/${DOMAIN}/changes?limit=2`);
  expect(changes.body[0]).toMatchObject({ id: imported.body.change_id, source: 'import', serial: 2 });
  const againMs = performance.now();
  const withoutTxt = parsed.body.records.filter((r: { type: string }) => r.type !== 'TXT');
  const again = await api.ask('POST', `${PATH}import`, { records: withoutTxt });
  expect(again.body).toMatchObject({ created: 0, overwritten: withoutTxt.length, failed: [], serial: 2 });
  console.info(`the same again, without a difference: ${(performance.now() - againMs).toFixed(0)} ms`);
});

/** Domains, and the zone files of theirs. */
const FIXTURES = [
  ['acme.example', 'company'],
  ['wild.test', 'wildcards'],
  ['cuts.test', 'nested-cuts'],
  ['types.test', 'all-types'],
] as const;
const QUESTION_TYPES = [
  TYPE.A,
  TYPE.AAAA,
  TYPE.MX,
  TYPE.TXT,
  TYPE.NS,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.DS,
  TYPE.SRV,
];
const EDNS_OCTETS = 1232;

/** What is imported of the zone file, as it is then published. */
async function publishFile(domain: string, file: string): Promise<string> {
  const path = `/domains/${domain}/records/`;
  await api.ask('POST', '/domains/', { name: domain, scan: false });
  const text = readFileSync(new URL(`../../fixtures/zones/${file}.zone`, import.meta.url), 'utf8');
  const parsed = await api.ask('POST', `${path}import/parse`, { zone_file: text });
  expect(parsed.status).toBe(200);
  const edge = { name: 'edge', type: 'CNAME', destination: 'origin.example.net', proxied: true };
  const records = [...parsed.body.records, edge];
  const { status, body } = await api.ask('POST', `${path}import`, { records });
  expect([status, body.created + body.failed.length]).toEqual([200, records.length]);
  expect(body.created).toBeGreaterThan(20);
  const change = await api.ask('GET', `/domains/${domain}/changes/${body.change_id}?wait=10`);
  expect(change.body.in_sync).toBe(true);
  const exported = await fetch(`${api.url}${path}export?view=published`, {
    headers: { authorization: `Bearer ${api.key}` },
  });
  expect(exported.headers.get('content-type')).toBe('text/dns; charset=utf-8');
  return await exported.text();
}

/** Each name of the zone, one that is not there beside it and one below it. */
function namesToAsk({ nodes, apex }: Zone): Set<Name> {
  const names = new Set<Name>();
  for (const name of nodes.keys()) {
    const beside = name === apex ? undefined : prependLabel('no-such', parentOf(name));
    for (const one of [name, beside, prependLabel('below', name)]) if (one !== undefined) names.add(one);
  }
  return names;
}

const needs = ['nsd', 'named-checkzone'].filter((program) => !isInstalled(program));

test.skipIf(needs.length > 0)(
  `what is exported as published is good to BIND, and NSD answers it as we do${needs.length > 0 ? ` (skipped: needs ${needs.join(', ')})` : ''}`,
  async () => {
    const texts: { apex: string; text: string }[] = [];
    for (const [domain, file] of FIXTURES) {
      const text = await publishFile(domain, file);
      texts.push({ apex: `${domain}.`, text });
      // without looking up the names in it elsewhere; underscores and escapes stand in names of any type here
      const arguments_ = ['-i', 'none', '-k', 'ignore', domain, '-'];
      const checked = spawnSync('named-checkzone', arguments_, { input: text, encoding: 'utf8' });
      expect([checked.status, checked.stdout]).toEqual([0, expect.stringMatching(/^OK$/m)]);
    }
    const zones = new Map(texts.map(({ apex, text }) => [parseName(apex), zoneOf(apex, text)]));
    const asked = [...zones.values()].flatMap((zone) =>
      [...namesToAsk(zone)].flatMap((name) =>
        QUESTION_TYPES.map((type) => ({ name, type, udpPayloadSize: EDNS_OCTETS })),
      ),
    );
    const queries = asked.map((one) => queryFor(one));
    const nsd = await startPeer('nsd', texts);
    try {
      const theirs = await askMany(nsd.port, queries);
      const ours = await askMany(node.address.port, queries);
      const unexplained: string[] = [];
      let same = 0;
      for (const [i, { name, type }] of asked.entries()) {
        const [our, their] = [ours[i], theirs[i]];
        if (our === undefined || their === undefined) throw new Error(`no answer for ${printName(name)}`);
        const [seen, other] = [observe(our), observe(their)];
        if (isSame(seen, other)) same++;
        else if (
          explain({
            peer: 'nsd',
            zones,
            name: foldCase(name),
            type,
            dnssecOk: false,
            limit: EDNS_OCTETS,
            ours: seen,
            theirs: other,
            complete: seen,
          }) === undefined
        )
          unexplained.push(
            `${printName(name)} ${typeMnemonic(type)}\nours\n${describeObserved(seen)}\ntheirs\n${describeObserved(other)}`,
          );
      }
      expect(unexplained.slice(0, 3)).toEqual([]);
      expect(same / asked.length).toBeGreaterThan(0.75);
      console.info(`${asked.length} questions, ${same} answered by NSD just as by us`);
    } finally {
      await nsd.stop();
    }
  },
);

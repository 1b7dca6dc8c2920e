// Edges by region, from their rows to packets of a nameserver process: clients in two countries, a drained edge, and
// Unbound, which validates the answers of a signed zone's regions.

import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { Rounds } from '../../src/jobs/run-rounds.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { publishRegions } from '../../workers/rounds/publish-regions.ts';
import { countryFile } from '../support/answer/country-file.ts';
import { queryFor } from '../support/answer/packets.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { newAccount, newDomain, saved } from '../support/database/domains.ts';
import { enabled, useSecrets } from '../support/database/signed-zones.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { until } from '../support/tests/until.ts';
import { startUnbound } from '../support/validators/unbound.ts';
import { edit } from '../support/zone/customer-records.ts';

const DE = '127.0.0.1';
const US = '127.0.0.2';
const NOWHERE = '127.0.0.3';

let database: TestDatabase;
let directory: string;
let node: NodeProcess;
let rounds: Rounds;
/** The keys of `signed.example`, as in a zone file. */
let anchors: string[];
const troubles: unknown[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  useSecrets(db);
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-regions-'));
  writeFileSync(join(directory, 'countries.mmdb'), countryFile({ [DE]: 'DE', [US]: 'US' }));
  const accountId = await newAccount(db, 'ann@example.org');
  const { id } = await newDomain(db, accountId, 'plain.example.');
  await saved(db, id, edit({ create: ['www A 198.51.100.7 ; proxied'] }, parseName('plain.example.')));
  const signed = parseName('signed.example.');
  const { id: domainId } = await newDomain(db, accountId, 'signed.example.');
  await saved(db, domainId, edit({ create: ['proxied A 192.0.2.3 ; proxied'] }, signed));
  await enabled(db, { domainId });
  const { records = [] } = (await loadZone(db, signed)) ?? {};
  anchors = records
    .filter(({ type }) => type === TYPE.DNSKEY)
    .map(({ rdata }) => `signed.example. IN DNSKEY ${printRdata(TYPE.DNSKEY, rdata)}`);
  await sql`insert into edge_countries values ('DE', 'eu'), ('US', 'us')`.execute(db);
  node = await startNode('ns1', {
    DATABASE_URL: database.url,
    DATA_DIR: directory,
    COUNTRY_DB: join(directory, 'countries.mmdb'),
  });
  rounds = publishRegions({
    db,
    idleMs: 100,
    onDecided: () => {},
    onRepublished: () => {},
    onSigned: () => {},
    onTrouble: (error) => void troubles.push(error),
  });
});

afterAll(async () => {
  await rounds?.stop();
  await node?.stop();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function addEdge(name: string, region: string, address: string): Promise<void> {
  await sql`
    insert into edges (name, region, v4, token_hash, token_prefix, seen_at)
    values (${name}, ${region}, ${[address]}, ${Buffer.from(name)}, 'edge_', now() + interval '1 hour')`.execute(
    database.db,
  );
}

/** Returns the addresses in a client's answer, sorted. */
async function addresses(from: string, name = 'www.plain.example.', opt?: string): Promise<string> {
  const query = queryFor(name, TYPE.A, opt === undefined ? {} : { opt });
  const socket = createSocket('udp4');
  try {
    const reply = await new Promise<Buffer | undefined>((done, fail) => {
      const timer = setTimeout(() => done(undefined), 5_000);
      socket.once('error', fail);
      socket.once('message', (message) => {
        clearTimeout(timer);
        done(message);
      });
      socket.bind(0, from, () => socket.send(query, node.address.port, node.address.address));
    });
    const answers = reply === undefined ? [] : decodeMessage(reply).answers;
    const given = answers
      .filter(({ type }) => type === TYPE.A)
      .map(({ type, rdata }) => printRdata(type, rdata));
    return given.sort().join(' ');
  } finally {
    socket.close();
  }
}

const becomes = (from: string, wanted: string, name?: string) =>
  until(async () => (await addresses(from, name)) === wanted, `${from} is given ${wanted}`);

let byDefault: string;

test('without edges, every client gets the default addresses of the edge', async () => {
  byDefault = await addresses(DE);
  expect(byDefault).toMatch(/^192\.0\.2\.\d+$/);
  for (const from of [US, NOWHERE]) expect(await addresses(from)).toBe(byDefault);
});

test('clients of two countries get the edges of their regions, others the default', async () => {
  await addEdge('a', 'eu', '203.0.113.1');
  await addEdge('b', 'eu', '203.0.113.2');
  await addEdge('c', 'us', '203.0.113.3');
  await becomes(DE, '203.0.113.1 203.0.113.2');
  await becomes(US, '203.0.113.3');
  expect(await addresses(NOWHERE)).toBe(byDefault);
  expect(await addresses(NOWHERE, undefined, 'subnet:000120007f000002')).toBe('203.0.113.3');
});

test('a drained edge disappears from the answers', async () => {
  await sql`update edges set drained_at = now() where name = 'a'`.execute(database.db);
  await becomes(DE, '203.0.113.2');
});

const missing = isInstalled('unbound') ? '' : ' (skipped: needs unbound)';

describe.skipIf(missing !== '')(`of a signed zone${missing}`, () => {
  test('a region gets its own edges, and Unbound validates all of them as secure', async () => {
    const name = 'proxied.signed.example.';
    await becomes(DE, '203.0.113.2', name);
    const unbound = await startUnbound(
      {
        anchors,
        reached: { stubs: [{ zone: 'signed.example.', port: node.address.port }] },
      },
      { kind: 'strict', keeps: false },
    );
    try {
      const validated = async () => {
        await unbound.forget();
        const [verdict] = await unbound.ask([{ name: parseName(name), type: TYPE.A }]);
        return verdict;
      };
      const first = await validated();
      expect([first?.security, first?.answer?.join()]).toEqual([
        'secure',
        expect.stringContaining('203.0.113.2'),
      ]);
      await sql`update edges set drained_at = null where name = 'a'`.execute(database.db);
      // Until the new set is signed, answers have the former one, so that they always validate.
      await until(async () => {
        const verdict = await validated();
        expect(verdict?.security).toBe('secure');
        return verdict?.answer?.join().includes('203.0.113.1');
      }, 'the new set is given');
    } finally {
      await unbound.stop();
    }
  });
});

test('the rounds had no errors', () => {
  expect(troubles).toEqual([]);
});

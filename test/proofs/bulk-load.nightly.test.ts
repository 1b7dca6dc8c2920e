// Loading a folder of many small zone files in one call: in few transactions and in a small heap. Tells how long it took.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../support/cli/run-cli.ts';
import { createDatabase, runOn, type TestDatabase } from '../support/database/database.ts';
import { listZones } from '../support/database/list-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { makeZoneFolder, type ZoneFolder } from '../support/zone/zone-folder.ts';

const FILES = scale(10_000, 500);
/** Of zones, when many files are loaded at once. */
const LEAST_IN_TRANSACTION = 20;
const RECORDS_EACH = 16;

let database: TestDatabase;
let folder: ZoneFolder;

beforeAll(async () => {
  database = await createDatabase();
  folder = makeZoneFolder();
  for (let i = 0; i < FILES; i++) folder.write(`z${i}.zone`, companyZone(i, 1));
});
afterAll(async () => {
  folder.remove();
  await database.drop();
});

/** What a small company has: mail, web, a few hosts, policy records. */
function companyZone(number: number, serial: number): string {
  const hosts = Array.from({ length: 6 }, (_, i) => `host${i} A 192.0.2.${i + 1}\n`).join('');
  return `$ORIGIN z${number}.example.
$TTL 1h
@ SOA ns1 hostmaster ( ${serial} 10000 2400 604800 1800 )
  NS ns1
  NS ns2.zonefleet.example.
  MX 10 mail
  TXT "v=spf1 mx -all"
ns1 A 192.0.2.53
mail A 192.0.2.25
www 300 CNAME @
@ CAA 0 issue "ca.example"
_dmarc TXT "v=DMARC1; p=reject"
${hosts}`;
}

// 160 MiB of heap for 10,000 files or 500: what was read does not pile up.
const surroundings = () => ({
  databaseUrl: database.url,
  env: { NODE_OPTIONS: '--max-old-space-size=160' },
});

/** Transactions that were committed in this database by connections that are closed. */
async function commits(): Promise<number> {
  const [row] = await runOn(
    { url: database.url },
    'select xact_commit::integer as n from pg_stat_database where datname = current_database()',
  );
  return row?.n as number;
}

async function timedLoad(): Promise<{ summary: Record<string, unknown>; durationMs: number }> {
  const start = performance.now();
  const { code, stdout, stderr } = await runCli(['zone', 'load', '--json', folder.path], surroundings());
  const durationMs = performance.now() - start;
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return { summary: JSON.parse(stdout).summary, durationMs };
}

it(`${FILES} zone files in one call are all loaded, in few transactions`, async () => {
  const before = await commits();
  const { summary, durationMs } = await timedLoad();
  expect(summary).toMatchObject({
    created: FILES,
    refused: 0,
    records: FILES * RECORDS_EACH,
    complete: true,
  });
  expect(await listZones(database.db)).toHaveLength(FILES);
  console.info(`${FILES} zones created in ${(durationMs / 1000).toFixed(1)} s`);
  const after = await commits();
  expect(after).toBeGreaterThan(before);
  expect(after - before).toBeLessThan(FILES / LEAST_IN_TRANSACTION);
});

it('loading them again changes only what differs', async () => {
  const edited = Math.floor(FILES / 10);
  for (let i = 0; i < edited; i++) folder.write(`z${i}.zone`, companyZone(i, 2));
  const { summary, durationMs } = await timedLoad();
  expect(summary).toMatchObject({ created: 0, replaced: edited, unchanged: FILES - edited, complete: true });
  console.info(`${FILES} zones compared, ${edited} replaced, in ${(durationMs / 1000).toFixed(1)} s`);
});

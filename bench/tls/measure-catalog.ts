// Measures a large catalog zone: until workers have listed all zones, and the cost of one more member.

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { serialIn } from '../../src/zone/serial.ts';
import { askTcp } from '../../test/support/peers/peers.ts';
import { startWorker } from '../checks/worker.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { cpuSeconds } from '../process-tree.ts';
import { fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { soaQuery } from '../servers/server.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { replacePeers, TSIG_SECRETS } from '../transfers/peers.ts';
import { TransferClient } from '../transfers/transferring.ts';
import { makeRecipeZones, RECIPE } from '../zones/recipe-zones.ts';
import { CATALOG, createCatalog, removeCatalog } from './create-catalog.ts';

const MEMBERS = 100_000;
const MAX_MEMBERS = '1000000';
const SINGLE_MEMBERS = 10;
/** SOA records of the new, the old and twice the new serial, and the member's PTR record. */
const SINGLE_RECORDS = 5;
const POLL_MS = 50;
const IDLE_MS = 5000;
/** About the time until a new member is published. */
const ROUND_MS = 1000;
const WAIT_MS = 600_000;

interface Measured {
  readonly members: number;
  readonly created: { readonly seconds: number; readonly cpuSeconds: number; readonly addedMib: number };
  /** Cost of one more member. */
  readonly single: { readonly octets: number; readonly cpuMs: number };
}

export async function measureCatalog(options: BenchOptions): Promise<string> {
  say('tls: catalog');
  const members = options.zones ?? MEMBERS;
  const set = { ...makeRecipeZones(members), name: `catalog_${members}` };
  const databaseUrl = await zonefleetDatabase(set);
  await removeCatalog(databaseUrl);
  await replacePeers(databaseUrl);
  const db = openDatabase(databaseUrl);
  const node = await startZonefleet({
    set,
    databaseUrl,
    cpu: options.serverCpu,
    address: '127.0.0.1',
    limitsRates: false,
    timeoutMs: 120_000,
    environment: { TSIG_SECRETS },
  });
  const worker = await startWorker({ databaseUrl }, options);
  const client = new TransferClient(options.loadCpu);
  const { pid: postgres } = await benchCluster();
  const cpu = () => cpuSeconds(worker.pid) + cpuSeconds(postgres);
  try {
    await pause(IDLE_MS);
    const [cpuBefore, bytesBefore] = [cpu(), forgetPeak(worker.pid)];
    await createCatalog(databaseUrl, '--select', 'all', '--max-members', MAX_MEMBERS);
    await until(async () => (await membersIn(db)) >= members);
    const created = {
      seconds: await creationSeconds(db),
      cpuSeconds: cpu() - cpuBefore,
      addedMib: (peakBytes(worker.pid) - bytesBefore) / 2 ** 20,
    };
    say(`  ${members} members after ${created.seconds.toFixed(1)} s, ${created.addedMib.toFixed(0)} MiB`);
    const serial = () => serialAt(node.port);
    await until(async () => (await serial()) !== undefined);
    await pause(IDLE_MS);
    const octets: number[] = [];
    let used = 0;
    for (let n = 0; n < SINGLE_MEMBERS; n++) {
      const before = (await serial()) as number;
      const [idleCpu, idleMs] = [cpu(), performance.now()];
      await pause(ROUND_MS);
      const idleShare = (cpu() - idleCpu) / (performance.now() - idleMs);
      const [addedCpu, addedMs] = [cpu(), performance.now()];
      await addZone(db, `added${n}-${Date.now().toString(36)}.example.`);
      await until(async () => (await serial()) !== before);
      used += cpu() - addedCpu - idleShare * (performance.now() - addedMs);
      const order = {
        port: node.port,
        key: undefined,
        apex: CATALOG,
        serial: before,
        records: SINGLE_RECORDS,
      };
      octets.push((await client.transfer(order)).octets);
    }
    const single = { octets: median(octets), cpuMs: (used * 1000) / SINGLE_MEMBERS };
    return describe({ members, created, single });
  } finally {
    await client.stop();
    await worker.stop();
    await node.stop();
    await db.destroy();
  }
}

function describe({ members, created, single }: Measured): string {
  const scale = Math.max(1, members / MEMBERS);
  return [
    '### Catalog zone',
    `All of ${members.toLocaleString('en-US')} zones become members of a new catalog, then one zone at a time is added. Processor ` +
      'time is that of the workers and of Postgres, less what they use while idle.',
    table(
      ['', 'seconds', 'CPU, ms', 'additional memory of the worker, MiB', 'octets of the IXFR'],
      [
        [
          'create',
          judged(created.seconds, 5 * scale, 1),
          fixed(created.cpuSeconds * 1000, 0),
          judged(created.addedMib, 128, 0),
          '',
        ],
        ['one more member', '', judged(single.cpuMs, 50, 0), '', judged(single.octets, 1024, 0)],
      ],
    ),
  ].join('\n\n');
}

async function addZone(db: Database, apex: string): Promise<void> {
  const origin = parseName(apex);
  const { records } = parseZoneFile(RECIPE, { origin });
  await saveZones(db, [{ apex: origin, records }], { source: 'test' });
}

/** Number of members in the zone that workers have written. */
async function membersIn(db: Database): Promise<number> {
  const { rows } = await sql<{ members: number }>`
    select count(*)::integer as members from catalog_members m join catalogs c on c.id = m.catalog_id
    where c.name = ${CATALOG} and c.published_at is not null`.execute(db);
  return rows[0]?.members ?? 0;
}

/** Returns the time between the command and the last change of the catalog. */
async function creationSeconds(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from published_at - created_at)::float8 as seconds from catalogs where name = ${CATALOG}`.execute(
    db,
  );
  return rows[0]?.seconds ?? Number.NaN;
}

/** Returns the catalog's serial at the node, or undefined if the node does not have the catalog. */
async function serialAt(port: number): Promise<number | undefined> {
  const { answers } = decodeMessage(await askTcp(port, soaQuery(1, CATALOG)));
  return answers[0] && serialIn(Buffer.from(answers[0].rdata));
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error('the catalog was not written');
    await pause(POLL_MS);
  }
}

/** Resets the largest resident size of a process. Returns the current size. */
function forgetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return peakBytes(pid);
}

function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

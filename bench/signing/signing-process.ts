// Signs or edits as Zonefleet's processes do, one order after the other, and measures its own event loop delay.
//   signing-process.ts DATABASE_URL

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { RULES } from '../../src/checks/dnssec/rules.ts';
import { type Name, parentOf, parseName } from '../../src/dns/name.ts';
import { groupKeyJobs } from '../../src/jobs/jobs.ts';
import { saveEdit } from '../../src/store/change/save-edit.ts';
import { enableDnssec } from '../../src/store/dnssec/change-goal.ts';
import { claimDueSteps } from '../../src/store/dnssec/due-steps.ts';
import { EPOCH_SQL } from '../../src/store/feed/change-feed.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { claimDueEdgeZones, signedSetsKey } from '../../src/store/regions/claim-edge-zones.ts';
import { signEdgeSets } from '../../src/store/regions/sign-edge-sets.ts';
import { KeyBoxes, useKeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { disableSigning, unsignInPieces } from '../../src/store/signing/disable-signing.ts';
import { enableSigning } from '../../src/store/signing/enable-signing.ts';
import { signInPieces } from '../../src/store/signing/sign-pieces.ts';
import { parseEdit } from '../../src/zone/edit/parse-edit.ts';
import { createKeyRoller } from '../../workers/jobs/roll-keys.ts';
import { runOn } from '../postgres/cluster.ts';
import type { Done, Order } from './orders.ts';

const [url = ''] = process.argv.slice(2);
const RESOLUTION_MS = 2;
const AT_ONCE = 4;
const BY = { by: { kind: 'system' }, source: 'api' } as const;
const NEVER = new AbortController().signal;

const db = openDatabase(url, { limits: OPERATOR_LIMITS, connectTimeoutMs: 60_000, maxWaiting: 100_000 });
useKeyBoxes(db, new KeyBoxes([{ name: 'bench', secret: Buffer.alloc(32, 1) }]));
let stopping = false;

async function run(order: Order): Promise<readonly number[]> {
  switch (order.kind) {
    case 'sign':
      await sign(order.domainId, order.denial);
      return [];
    case 'unsign':
      await unsign(order.domainId);
      return [];
    case 'regions':
      await signRegions(order);
      return [];
    case 'enable':
      await enableAll(order.domainIds);
      return [];
    case 'edit':
      return await editUntilStopped(order);
    case 'batch':
      return [await batch(order.domainId, order.records)];
    default:
      return [];
  }
}

async function sign(domainId: number, denial: 'nsec' | 'nsec3'): Promise<void> {
  const wanted = { denial, algorithm: 13, split: false } as const;
  const enabled = await enableSigning(db, { domainId }, wanted, BY);
  if (enabled.kind === 'refused') throw new Error(enabled.message);
  if (enabled.kind === 'signing') await signInPieces(db, enabled.signed.id, NEVER);
}

async function unsign(domainId: number): Promise<void> {
  const done = await disableSigning(db, { domainId }, BY);
  const [row] = await runOn(url, `select id from signed_zones where domain_id = ${domainId}`);
  if (done === 'unsigning') await unsignInPieces(db, Number(row?.id), NEVER);
}

async function signRegions({
  domainId,
  sets,
  signatures,
}: Extract<Order, { kind: 'regions' }>): Promise<void> {
  const due = await claimDueEdgeZones(db, signedSetsKey(sets), 200);
  const zone = due.find((one) => one.domainId === domainId);
  if (zone === undefined) throw new Error(`domain ${domainId} is not due to be signed for regions`);
  const made = await signEdgeSets(db, zone, sets, NEVER);
  if (made !== signatures) throw new Error(`${made} signatures were made, not ${signatures}`);
}

/** Sets the goal like the API, and signs like workers. No DS is looked up before a zone is signed. */
async function enableAll(domainIds: readonly number[]): Promise<void> {
  const left = domainIds.values();
  await inTurn(async () => {
    for (const domainId of left) {
      const changed = await enableDnssec(db, { ...BY, domainId });
      if (changed.kind !== 'updated') throw new Error(JSON.stringify(changed));
    }
  });
  const unseen = (): never => {
    throw new Error('external servers are queried only after a zone is signed');
  };
  const roll = createKeyRoller({
    db,
    resolver: {
      observeDs: async (name) => nothingShown(name),
      observeSigned: unseen,
      observeTheirKeys: unseen,
    },
    rules: RULES,
    onOutcome: () => {},
  });
  for (let signed = 0; signed < domainIds.length; ) {
    await nodeFollows();
    const { rows } = await claimDueSteps(db, { limit: 200 });
    const jobs = groupKeyJobs(rows.map(({ id }) => ({ signedZoneId: id }))).values();
    await inTurn(async () => {
      for (const job of jobs) await roll(job, { signal: NEVER, again: false });
    });
    const [row] = await runOn(
      url,
      'select count(*)::int as signed from signed_zones where expires_at is not null and domain_id is not null',
    );
    signed = Number(row?.signed);
  }
}

/** Adds a node that has all committed changes: zones are signed only if there is a node. */
async function nodeFollows(): Promise<void> {
  await runOn(
    url,
    `insert into nodes (name, instance, started_at, loaded, zones, records, abilities, unserved, snapshot, seen_at, epoch)
     select 'bench', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{dnssec}', '{}', pg_current_snapshot(), clock_timestamp(),
       ${EPOCH_SQL} from feed
     on conflict (name) do update set snapshot = excluded.snapshot, seen_at = excluded.seen_at`,
  );
}

function nothingShown(domain: Name) {
  const parent = parentOf(domain);
  return { domain, parent, answers: [], parentIsSecure: false, observedAt: Date.now() };
}

async function inTurn(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Edits at a steady rate. A slow edit delays later ones, and each is measured from its due time. */
async function editUntilStopped({
  domainIds,
  perSecond,
}: Extract<Order, { kind: 'edit' }>): Promise<number[]> {
  const millis: number[] = [];
  const startedMs = performance.now();
  const running: Promise<void>[] = [];
  stopping = false;
  for (let n = 0; !stopping; n++) {
    const dueMs = startedMs + (n * 1000) / perSecond;
    await pause(Math.max(0, dueMs - performance.now()));
    const domainId = domainIds[n % domainIds.length] as number;
    running.push(editOnce(domainId).then(() => void millis.push(performance.now() - dueMs)));
  }
  await Promise.all(running);
  return millis;
}

const names = new Map<number, Name>();
let edited = 0;

async function editOnce(domainId: number): Promise<void> {
  const apex = names.get(domainId) ?? (await apexOf(domainId));
  const n = edited++; // continues across orders, so that each edit changes something
  const record = { type: 'A', destination: `192.0.2.${n % 256}` } as const;
  const text =
    n % 2 === 0
      ? { create: [{ name: `new${process.pid}-${n}`, ...record }] }
      : {
          replace: [
            {
              name: 'changing',
              type: 'A' as const,
              ttl: 300,
              records: [{ destination: record.destination }],
            },
          ],
        };
  await save(domainId, apex, text);
}

async function apexOf(domainId: number): Promise<Name> {
  const [row] = await runOn(url, `select name from domains where id = ${domainId}`);
  const apex = parseName(String(row?.name));
  names.set(domainId, apex);
  return apex;
}

/** Returns the milliseconds in which the records were created. */
async function batch(domainId: number, records: number): Promise<number> {
  const apex = await apexOf(domainId);
  const create = Array.from({ length: records }, (_, i) => ({
    name: `batch${i}`,
    type: 'A' as const,
    destination: '192.0.2.7',
  }));
  const startedMs = performance.now();
  const made = await save(domainId, apex, { create });
  const millis = performance.now() - startedMs;
  await save(domainId, apex, { delete: made });
  return millis;
}

/** Returns the ids of the created records. */
async function save(domainId: number, apex: Name, text: Parameters<typeof parseEdit>[0]): Promise<number[]> {
  const parsed = parseEdit(text, apex);
  if (parsed.kind !== 'edit') throw new Error(JSON.stringify(parsed.problems.slice(0, 3)));
  const result = await saveEdit(db, { ...BY, domainId, edit: parsed.edit });
  if (result.kind !== 'saved') throw new Error(JSON.stringify(result).slice(0, 500));
  return result.ops.map(({ after }) => after?.id as number);
}

async function timed(order: Order): Promise<Done> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  delay.enable();
  const millis = await run(order);
  delay.disable();
  const { user, system } = process.cpuUsage(cpuBefore);
  const late = (nanos: number) => Math.max(0, nanos / 1e6 - RESOLUTION_MS);
  return {
    seconds: (performance.now() - startedMs) / 1000,
    lateMs: { worst: late(delay.max), p99: late(delay.percentile(99)) },
    cpuSeconds: (user + system) / 1e6,
    millis,
  };
}

process.on('message', (order: Order) => {
  if (order.kind === 'stop') stopping = true;
  else void timed(order).then((done) => process.send?.(done));
});
process.on('disconnect', () => process.exit(0));
process.on('unhandledRejection', (error) => {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
});
process.send?.('ready');

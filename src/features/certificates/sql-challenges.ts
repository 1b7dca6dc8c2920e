// Publishes the responses to the challenges of an order: TXT records for dns-01 (RFC 8555 §8.4), answers of edges for http-01
// (§8.3).

import { sql } from 'kysely';
import { foldCase, type Name, parseName } from '../../dns/name.ts';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import { type DomainLock, lockDomain } from '../../store/change/lock-domain.ts';
import { writeDomainChange } from '../../store/change/write-domain-change.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { loadRecordsAt } from '../../store/records/load-touched-records.ts';
import {
  allocateRecordIds,
  decodeRecord,
  RECORD_COLUMN_NAMES,
  RECORD_JSON,
  type RecordJson,
  recordsAsTable,
} from '../../store/records/record-row.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type CustomerRecord, DEFAULT_SETTINGS } from '../../zone/records/customer-record.ts';
import { namesBetween } from '../../zone/records/record-name.ts';
import { type OrderWork, type StoredFinding, saveStep } from './sql-orders.ts';
import { writeCertificate } from './sql-write.ts';

interface ChallengeText {
  /** Full name, such as `_acme-challenge.example.org`. */
  readonly name: string;
  readonly value: string;
}

type WrittenChallenges =
  /** `changeId` is undefined if the records were already in place. */
  | { readonly kind: 'written'; readonly changeId: number | undefined }
  /** Records of the owner prevent responses at that name. */
  | ({ readonly kind: 'blocked' } & Blocking)
  | { readonly kind: 'not_served' };

interface Blocking {
  readonly name: string;
  readonly type: 'CNAME' | 'NS' | 'DNAME';
}

const TTL_SECONDS = 60;

/** Makes the challenge records of the domain exactly `wanted`. An empty list removes them. */
export async function writeChallenges(
  trx: Database,
  lock: DomainLock,
  wanted: readonly ChallengeText[],
): Promise<WrittenChallenges> {
  const { row, zone, now } = lock;
  const isServed = zone !== undefined && row.served === 'full' && row.deletedAt === null && !row.isCopy;
  if (!isServed && wanted.length > 0) return { kind: 'not_served' };
  const apex = decodeNameColumn(row.name);
  const present = await loadChallenges(trx, row.id);
  const keys = new Set(wanted.map(({ name, value }) => `${name} ${value}`));
  const gone = present.filter(
    ({ name, rdata }) =>
      !keys.delete(`${printWithoutDot(name)} ${Buffer.from(rdata.subarray(1)).toString()}`),
  );
  const missing = wanted.filter(({ name, value }) => keys.has(`${name} ${value}`));
  if (gone.length === 0 && missing.length === 0) return { kind: 'written', changeId: undefined };
  const goneIds = gone.map(({ id }) => id);
  if (!isServed) {
    await sql`delete from records where id = any(${goneIds}::bigint[])`.execute(trx);
    return { kind: 'written', changeId: undefined };
  }
  const names = new Set<Name>([...gone.map(({ name }) => name), ...missing.map(({ name }) => nameOf(name))]);
  const above = [...names].flatMap((name) => [...namesBetween(name, apex)]);
  const found = await loadRecordsAt(trx, row.id, [...new Set([...names, ...above, apex])]);
  for (const { name } of missing) {
    const blocking = findBlocking(nameOf(name), apex, found);
    if (blocking !== undefined) return { kind: 'blocked', ...blocking };
  }
  const created = await makeRecords(trx, missing, found, now.toISOString());
  const after = [...found.filter(({ id }) => !goneIds.includes(id)), ...created];
  const published = [...names, apex].map(
    (name) => [name, after.filter((record) => record.name === name)] as const,
  );
  const { changeId } = await writeDomainChange(trx, lock, {
    by: { kind: 'system' },
    source: 'acme',
    operation: 'edit',
    ops: [
      ...gone.map((before) => ({ op: 'delete' as const, before })),
      ...created.map((record) => ({ op: 'create' as const, after: record })),
    ],
    served: row.served,
    records: [
      ...(goneIds.length > 0
        ? [sql`gone_records as (delete from records where id = any(${goneIds}::bigint[]))`]
        : []),
      ...(created.length > 0
        ? [
            sql`challenge_records as (
              insert into records (${RECORD_COLUMN_NAMES}, managed)
              select ${RECORD_COLUMN_NAMES}, true from ${recordsAsTable(row.id, created)} n)`,
          ]
        : []),
    ],
    publish: new Map(published),
  });
  return { kind: 'written', changeId };
}

async function loadChallenges(trx: Database, domainId: number): Promise<CustomerRecord[]> {
  const { rows } = await sql<{ record: RecordJson }>`
    select ${RECORD_JSON} as record from records r
    where r.domain_id = ${domainId} and r.managed and r.type = 'TXT' order by r.id`.execute(trx);
  return rows.map(({ record }) => decodeRecord(record));
}

function nameOf(text: string): Name {
  return foldCase(parseName(`${text}.`));
}

function findBlocking(name: Name, apex: Name, records: readonly CustomerRecord[]): Blocking | undefined {
  const alias = records.find((record) => record.name === name && record.type === 'CNAME' && !record.proxied);
  if (alias !== undefined) return { name: printWithoutDot(name), type: 'CNAME' };
  const places = new Set([name, ...namesBetween(name, apex)]);
  const cut = records.find((record) => record.type === 'NS' && places.has(record.name));
  if (cut !== undefined) return { name: printWithoutDot(cut.name), type: 'NS' };
  const above = new Set([...namesBetween(name, apex), apex]);
  const dname = records.find((record) => record.type === 'DNAME' && above.has(record.name));
  return dname === undefined ? undefined : { name: printWithoutDot(dname.name), type: 'DNAME' };
}

/** The records get the TTL of the set that they join (RFC 2181 §5.2). */
async function makeRecords(
  trx: Database,
  missing: readonly ChallengeText[],
  found: readonly CustomerRecord[],
  at: string,
): Promise<CustomerRecord[]> {
  const ids = await allocateRecordIds(trx, missing.length);
  return missing.map(({ name, value }, i) => {
    const owner = nameOf(name);
    const beside = found.find((record) => record.name === owner && record.type === 'TXT');
    return {
      ...DEFAULT_SETTINGS,
      id: ids[i] as number,
      managed: true,
      name: owner,
      type: 'TXT',
      rdata: Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]),
      ttl: beside?.ttl ?? TTL_SECONDS,
      createdAt: at,
      updatedAt: at,
    };
  });
}

type PublishedChallenges =
  | { readonly kind: 'published' | 'conflict' | 'not_served' }
  | { readonly kind: 'blocked'; readonly name: string; readonly type: 'CNAME' | 'NS' | 'DNAME' };

const PREFIX = '_acme-challenge';

class OrderConflict extends Error {}

export async function publishChallenges(db: Database, work: OrderWork): Promise<PublishedChallenges> {
  return await orConflict(
    inTransaction(db, async (trx) => {
      const lock = await lockDomain(trx, work.domainId);
      if (lock === undefined) return { kind: 'not_served' };
      const texts = work.challenges
        .filter(({ type }) => type === 'dns-01')
        .map(({ host, value }) => ({ name: `${PREFIX}.${host}`, value }));
      const written = await writeChallenges(trx, lock, texts);
      if (written.kind !== 'written') return written;
      for (const { type, host, token, value } of work.challenges)
        if (type === 'http-01')
          await sql`
            insert into acme_answers (domain_id, host, token, key_authorization)
            values (${work.domainId}, ${host}, ${token}, ${value}) on conflict do nothing`.execute(trx);
      await step(trx, work, {
        dueInMs: 0,
        set: sql`step = 'published', published_at = clock_timestamp(), change_id = ${written.changeId ?? null}`,
      });
      return { kind: 'published' };
    }),
  );
}

interface Ended {
  /** The issued certificate. */
  readonly issued?: JudgedCertificate;
  readonly error?: string;
  readonly findings: readonly StoredFinding[];
  /** Time until the order is checked next. */
  readonly dueInMs: number;
  readonly renewAt?: Date | undefined;
}

/** Ends an order in every case: deletes its challenge responses, and replaces the certificate if one was issued. */
export async function endOrder(
  db: Database,
  work: OrderWork,
  { issued, error, findings, dueInMs, renewAt }: Ended,
): Promise<'ended' | 'conflict'> {
  const ended = await orConflict(
    inTransaction(db, async (trx): Promise<{ kind: 'published' | 'conflict' }> => {
      const lock = await lockDomain(trx, work.domainId);
      if (lock === undefined) return { kind: 'conflict' };
      await writeChallenges(trx, lock, []);
      await sql`delete from acme_answers where domain_id = ${work.domainId}`.execute(trx);
      if (issued !== undefined) await writeCertificate(trx, work.domainId, { kind: 'acme', judged: issued });
      const failed =
        error === undefined
          ? sql``
          : sql`, last_error = ${error}, failed_at = clock_timestamp(),
        attempts = attempts + 1`;
      const done =
        issued === undefined
          ? sql``
          : sql`, last_error = null, failed_at = null, attempts = 0, renew_at = ${renewAt ?? null},
              renewal_look_at = null`;
      await step(trx, work, {
        dueInMs,
        set: sql`step = 'resting', wanted = false, order_url = null, challenges = '[]', change_id = null,
          published_at = null, begun_at = null, box_id = null, sealed = null,
          findings = ${JSON.stringify(findings)}::jsonb${failed}${done}`,
      });
      return { kind: 'published' };
    }),
  );
  return ended.kind === 'conflict' ? 'conflict' : 'ended';
}

async function step(trx: Database, work: OrderWork, saved: Parameters<typeof saveStep>[2]): Promise<void> {
  if (!(await saveStep(trx, work, saved))) throw new OrderConflict();
}

/** Returns `conflict` if another step was saved meanwhile. The transaction is then rolled back. */
async function orConflict<T>(work: Promise<T>): Promise<T | { readonly kind: 'conflict' }> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OrderConflict) return { kind: 'conflict' };
    throw error;
  }
}

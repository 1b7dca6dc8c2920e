// The locks of a domain's writers, in the order in which all writers take them:
//
//     names that lie within each other → the domain's row → its zone's row
//
// The rows that go with a domain (`domain_checks`, `domain_verifications`) have no place in this order and need none.
// Whoever may wait for one of them while holding other locks has locked its domain's row before: of two such writers the
// second waits there, and never for the other's row. Who locks one without its domain's row keeps nobody waiting who
// could keep it waiting:
//
//   - `claimDueDomains` and `claimDueVerifications` skip what is locked, and lock nothing else after that.
//   - `saveStillChecks` skips what is locked. After that it writes runs, whose last one only those write who hold the row
//     of `domain_checks`, and where it adds a run or writes findings it holds the domain's row, which it skipped if locked.
//   - `takeManualCheck`, `giveBackManualCheck` and `shortenLease` wait for one row, and hold nothing else.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow } from '../domains/domain-row.ts';
import { decodeSignedZone, SIGNED_ZONE_JSON, type SignedZoneJson } from '../keys/signed-zone.ts';
import { decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong, LONG_ROWS } from '../postgres/deadlines.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { recordsAtApexAnd } from '../records/load-touched-records.ts';
import { decodeRecord, newRecordIds, type RecordJson } from '../records/record-row.ts';
import { LOCKED_ZONE_COLUMNS, type LockedZone } from '../zones/write-zone.ts';
import type { LockedDomain } from './publish-zone.ts';

export interface DomainLock extends LockedDomain {
  /** What was asked for with the lock. */
  readonly ahead?: LoadedAhead;
}

/** What a small edit needs, read with the lock: each statement of its own makes all other writes of the domain wait longer. */
export interface Ahead {
  /** Their records are loaded, and those of the apex. */
  readonly names: readonly Name[];
  /** How many ids of new records are allocated. */
  readonly ids: number;
}

interface LoadedAhead {
  /** Without the service's own NS. */
  readonly records: readonly CustomerRecord[];
  /** In rising order. */
  readonly ids: readonly number[];
}

/** Undefined: there is no such domain. A deleted one is locked too. */
export async function lockDomain(
  trx: Database,
  domainId: number,
  ahead?: Ahead,
): Promise<DomainLock | undefined> {
  // The lock first: a statement that waits for it may read the tables beside it as they were before. The settings too:
  // whoever changes them publishes the domains that were not locked then.
  const locked = await sql`select from domains where id = ${domainId} for update`.execute(trx);
  if (locked.rows.length === 0) return undefined;
  const { rows } = await sql<LockedRow>`
    with zone as materialized (
      select ${LOCKED_ZONE_COLUMNS} from zones where id = (select zone_id from domains where id = ${domainId})
      for update)
    select ${DOMAIN_COLUMNS}, ${SETTINGS_TEXT} as settings, ${TIME} as now, to_jsonb(z)
      || jsonb_build_object('nextVersion', nextval('change_version')) as zone,
      ${SIGNED_ZONE_JSON} as signed${ahead ? aheadOf(ahead) : sql``}
    from ${DOMAIN_TABLES} left join signed_zones s on s.domain_id = d.id left join zone z on true
    where d.id = ${domainId}`.execute(trx);
  const { settings, now, zone, signed, records, ids, ...row } = rows[0] as LockedRow;
  if (row.recordCount >= LONG_ROWS) await allowLong(trx);
  const lock = {
    row,
    zone: zone ?? undefined,
    signed: signed === null ? undefined : decodeSignedZone(signed),
    settings: decodePublishSettings(settings),
    now,
  };
  if (ahead === undefined) return lock;
  return { ...lock, ahead: { records: (records ?? []).map(decodeRecord), ids: ids ?? [] } };
}

function aheadOf({ names, ids }: Ahead): RawBuilder<unknown> {
  const columns = names.map(encodeNameColumn);
  return sql`, ${recordsAtApexAnd(columns)} as records, ${newRecordIds(ids)} as ids`;
}

/** Deleted, or no longer the account's whose it was (`ownerId`) when the caller's rights were judged. */
export function isGone({ row }: DomainLock, { ownerId }: { readonly ownerId?: number }): boolean {
  return row.deletedAt !== null || (ownerId !== undefined && row.accountId !== ownerId);
}

interface LockedRow extends DomainRow {
  readonly settings: string | null;
  readonly now: Date;
  readonly zone: LockedZone | null;
  readonly signed: SignedZoneJson | null;
  readonly records?: readonly RecordJson[] | null;
  readonly ids?: readonly number[];
}

const NAMES_LOCK = 0x6e616d65; // 'name'

/** Locks names before any row, for every decision that depends on the domains above and below a name. */
export async function lockNamesAround(trx: Database, nameText: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${NAMES_LOCK}, hashtext(${sharedLabels(nameText)}))`.execute(trx);
}

/** Returns the last two labels. Names within each other share them, because no customer has a top-level domain. */
export function sharedLabels(nameText: string): string {
  return nameText.split('.').slice(-3).join('.');
}

/** Locks the domain as `lockDomain` does, after the names around it. */
export async function lockDomainAndNames(trx: Database, domainId: number): Promise<DomainLock | undefined> {
  const named = await trx.selectFrom('domains').select('name').where('id', '=', domainId).executeTakeFirst();
  if (named === undefined) return undefined;
  await lockNamesAround(trx, named.name); // a domain's name never changes
  return await lockDomain(trx, domainId);
}

// The locks of a domain's writers, in the order in which all writers take them:
//
//     names above and below each other → the domain's row → its zone's row
//
// The dependent rows (`domain_checks`, `domain_verifications`) need no position in this order. A writer that may wait
// for such a row while it holds other locks has locked the domain's row before, so a second such writer waits there. A
// writer that locks a dependent row without the domain's row cannot cause a deadlock:
//
//   - `claimDueDomains` and `claimDueVerifications` skip locked rows, and lock nothing afterwards.
//   - `saveStillChecks` skips locked rows. Only the holder of the `domain_checks` row writes a domain's last run, and
//     it adds runs or findings only with the domain's row, which it skips if locked.
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
import { sendWithNext } from '../postgres/pool-driver.ts';
import { recordsAtApexAnd, type TouchedJson, touchedRecords } from '../records/load-touched-records.ts';
import { decodeRecord, newRecordIds, type RecordJson } from '../records/record-row.ts';
import { hasRulesOf } from '../rules/load-rules.ts';
import { LOCKED_ZONE_COLUMNS, type LockedZone } from '../zones/write-zone.ts';
import type { LockedDomain } from './publish-zone.ts';

export interface DomainLock extends LockedDomain {
  /** Data that was requested together with the lock. */
  readonly ahead?: LoadedAhead;
}

/** Data for a small edit, read together with the lock. Separate statements would delay other writers of the domain. */
export interface Ahead {
  /** Records at these names and at the apex are loaded. */
  readonly names: readonly Name[];
  /** Ids of existing records, which are loaded with all others at their names. */
  readonly touched: readonly number[];
  /** Number of ids to allocate for new records. */
  readonly ids: number;
}

export interface LoadedAhead {
  /** Without the service's own NS records. */
  readonly records: readonly CustomerRecord[];
  /** In ascending order. */
  readonly ids: readonly number[];
  /** Undefined if no existing records were requested. */
  readonly touched?: TouchedJson & {
    /** True if rules are for one of the records. */
    readonly hasRules: boolean;
  };
}

/** Returns undefined if the domain does not exist. Also locks deleted domains. */
export async function lockDomain(
  trx: Database,
  domainId: number,
  ahead?: Ahead,
): Promise<DomainLock | undefined> {
  // Lock first: a statement that waits for a lock may read other tables as they were before the wait. This includes the
  // settings, because a change of settings publishes only the domains that it can lock.
  await sendWithNext(trx, sql`select from domains where id = ${domainId} for update`);
  const { rows } = await sql<LockedRow>`
    with zone as materialized (
      select ${LOCKED_ZONE_COLUMNS} from zones where id = (select zone_id from domains where id = ${domainId})
      for update)
    select ${DOMAIN_COLUMNS}, ${SETTINGS_TEXT} as settings, ${TIME} as now, to_jsonb(z)
      || jsonb_build_object('nextVersion', nextval('change_version')) as zone,
      ${SIGNED_ZONE_JSON} as signed${ahead ? aheadOf(ahead) : sql``}
    from ${DOMAIN_TABLES} left join signed_zones s on s.domain_id = d.id left join zone z on true
    where d.id = ${domainId}`.execute(trx);
  if (rows[0] === undefined) return undefined;
  const { settings, now, zone, signed, records, ids, touched, hasRules, ...row } = rows[0];
  if (row.recordCount >= LONG_ROWS) await allowLong(trx);
  const lock = {
    row,
    zone: zone ?? undefined,
    signed: signed === null ? undefined : decodeSignedZone(signed),
    settings: decodePublishSettings(settings),
    now,
  };
  if (ahead === undefined) return lock;
  return {
    ...lock,
    ahead: {
      records: (records ?? []).map(decodeRecord),
      ids: ids ?? [],
      ...(touched !== undefined && { touched: { ...touched, hasRules: hasRules === true } }),
    },
  };
}

function aheadOf({ names, touched, ids }: Ahead): RawBuilder<unknown> {
  const columns = names.map(encodeNameColumn);
  const loaded = sql`, ${recordsAtApexAnd(columns, touched)} as records, ${newRecordIds(ids)} as ids`;
  if (touched.length === 0) return loaded;
  return sql`${loaded}, ${touchedRecords(touched)} as touched, ${hasRulesOf(touched)} as "hasRules"`;
}

/** Returns true if the domain is deleted, or if it no longer belongs to the account for which the caller checked rights. */
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
  readonly touched?: TouchedJson;
  readonly hasRules?: boolean;
}

const NAMES_LOCK = 0x6e616d65; // 'name'

/** Locks names before any row, for every decision that depends on the domains above and below a name. */
export async function lockNamesAround(trx: Database, nameText: string): Promise<void> {
  await sendWithNext(trx, sql`select ${namesLocked(nameText)}`);
}

/** Takes the same lock as an expression of another statement. */
export function namesLocked(nameText: string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock(${NAMES_LOCK}, hashtext(${sharedLabels(nameText)}))`;
}

/** Does the same for several names, in an order that prevents deadlocks. */
export async function lockNamesAroundAll(trx: Database, names: readonly string[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${NAMES_LOCK}, n.key) from (
      select distinct hashtext(n) as key from unnest(${names.map(sharedLabels)}::text[]) n order by 1) n`.execute(
    trx,
  );
}

/** Returns the last two labels. All names above and below each other share them, because no customer has a top-level domain. */
export function sharedLabels(nameText: string): string {
  return nameText.split('.').slice(-3).join('.');
}

/** Locks the names around the domain, then the domain as `lockDomain` does. */
export async function lockDomainAndNames(trx: Database, domainId: number): Promise<DomainLock | undefined> {
  const named = await trx.selectFrom('domains').select('name').where('id', '=', domainId).executeTakeFirst();
  if (named === undefined) return undefined;
  await lockNamesAround(trx, named.name); // a domain's name never changes
  return await lockDomain(trx, domainId);
}

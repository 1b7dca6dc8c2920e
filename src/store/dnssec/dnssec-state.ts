// The stored signing state of a domain: its row, its key machine, all its keys, and the owner's settings.

import { type RawBuilder, sql } from 'kysely';
import { needsKeys } from '../../checks/dnssec/goals.ts';
import { type Machine, wantedIds } from '../../checks/dnssec/machine.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { asTold } from '../../checks/dnssec/told/as-told.ts';
import { delegatedTo } from '../../checks/dnssec/told/dnssec-findings.ts';
import type { DelegatedTo } from '../../checks/dnssec/told/foreign-findings.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { SIGNING_ALGORITHM, type SigningAlgorithm } from '../../zone/signing/signing-key.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow } from '../domains/domain-row.ts';
import { nameserversOf, provingSets } from '../domains/nameserver-sets.ts';
import { EPOCH_SQL } from '../feed/change-feed.ts';
import {
  decodeSignedZone,
  SIGNED_ZONE_JSON,
  type SignedZone,
  type SignedZoneJson,
} from '../keys/signed-zone.ts';
import { type DnssecKey, decodeKeys, type KeyJson, keysJson } from '../keys/zone-keys.ts';
import { decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { DenialKind } from '../postgres/tables/schema.ts';

export interface StoredDnssec {
  /** With the keys that are published or sign. */
  readonly signed: SignedZone;
  /** Null if an operator had the domain signed, without a machine. */
  readonly machine: Machine | null;
  /** All past and present keys, in order of creation. */
  readonly keys: readonly DnssecKey[];
  /** Time at which the first signature ends; null if the fleet has not signed the zone. */
  readonly expiresAt: Date | null;
  readonly resignAt: Date | null;
  /** Time of the next observation; null if none is planned. */
  readonly dueAt: Date | null;
}

/** Returns undefined if the domain was never signed. */
export async function loadDnssec(db: Database, domainId: number): Promise<StoredDnssec | undefined> {
  return await loadOne(db, sql`s.domain_id = ${domainId}`);
}

export async function loadDnssecOf(db: Database, signedZoneId: number): Promise<StoredDnssec | undefined> {
  return await loadOne(db, sql`s.id = ${signedZoneId}`);
}

interface StoredRow extends Omit<StoredDnssec, 'signed' | 'keys'> {
  readonly signedJson: SignedZoneJson;
  readonly keysJson: readonly KeyJson[];
}

async function loadOne(db: Database, condition: RawBuilder<unknown>): Promise<StoredDnssec | undefined> {
  const { rows } =
    await sql<StoredRow>`select ${STORED_COLUMNS} from signed_zones s where ${condition}`.execute(db);
  const [row] = rows;
  return row && decodeStored(row);
}

const STORED_COLUMNS = sql`${SIGNED_ZONE_JSON} as "signedJson", s.machine, s.expires_at as "expiresAt",
  s.resign_at as "resignAt", s.due_at as "dueAt", ${keysJson(sql`s.id`)} as "keysJson"`;

function decodeStored({
  signedJson,
  keysJson,
  machine,
  expiresAt,
  resignAt,
  dueAt,
}: StoredRow): StoredDnssec {
  const keys = decodeKeys(keysJson);
  return { signed: decodeSignedZone(signedJson), machine, expiresAt, resignAt, dueAt, keys };
}

/**
 * Loads the state that users may see. If the database was restored since the last observation, they are asked for fewer
 * actions at the registrar. Returns undefined if the domain was never signed.
 */
export async function loadToldDnssec(db: Database, domainId: number): Promise<StoredDnssec | undefined> {
  return await visible(db, await loadDnssec(db, domainId));
}

export async function loadToldDnssecOf(
  db: Database,
  signedZoneId: number,
): Promise<StoredDnssec | undefined> {
  return await visible(db, await loadDnssecOf(db, signedZoneId));
}

async function visible(db: Database, stored: StoredDnssec | undefined): Promise<StoredDnssec | undefined> {
  const { machine } = stored ?? {};
  if (!stored || !machine || machine.asked.length === 0) return stored;
  return { ...stored, machine: await visibleMachine(db, machine) };
}

async function visibleMachine(db: Database, machine: Machine): Promise<Machine> {
  const { rows } = await sql<{ epoch: string }>`select ${sql.raw(EPOCH_SQL)} as epoch from feed`.execute(db);
  const [{ epoch }] = rows as [{ epoch: string }];
  return asTold(machine, epoch, RULES);
}

export interface KeyWork extends StoredDnssec {
  readonly machine: Machine;
  /** By the clock of Postgres. */
  readonly loadedAt: Date;
  readonly domainId: number;
  readonly accountId: number;
  readonly name: Name;
  /** Null if nodes serve nothing of the domain. */
  readonly zoneId: number | null;
  /** The nameservers that the domain's zone shows. */
  readonly nameservers: readonly Name[];
  /** True if a query to the parent was requested, regardless of the last one. */
  readonly isDsDue: boolean;
  readonly delegatedTo: DelegatedTo;
  /** Time since which the owner has something to do at the registrar. */
  readonly wantedSince: Date | null;
  readonly remindedAt: Date | null;
}

interface WorkRow
  extends DomainRow,
    Omit<StoredRow, 'machine'>,
    Pick<KeyWork, 'machine' | 'loadedAt' | 'isDsDue' | 'wantedSince' | 'remindedAt'> {
  readonly settings: string | null;
  readonly currentNs: readonly string[] | null;
}

/** Returns undefined if the domain is deleted or has no machine. */
export async function loadKeyWork(db: Database, signedZoneId: number): Promise<KeyWork | undefined> {
  return (await loadKeyWorks(db, [signedZoneId])).get(signedZoneId);
}

/**
 * Loads the input of observations by the key machine, by the id of the signed zone. Zones whose domain is deleted or
 * that have no machine are omitted.
 */
export async function loadKeyWorks(
  db: Database,
  signedZoneIds: readonly number[],
): Promise<Map<number, KeyWork>> {
  const { rows } = await sql<WorkRow>`
    select ${DOMAIN_COLUMNS}, ${TIME} as "loadedAt", ${STORED_COLUMNS}, ${SETTINGS_TEXT} as settings, s.ds_due as "isDsDue", s.wanted_since as "wantedSince",
      s.reminded_at as "remindedAt", (select c.current_ns from domain_checks c where c.domain_id = d.id) as "currentNs"
    from ${DOMAIN_TABLES} join signed_zones s on s.domain_id = d.id
    where s.id = any(${signedZoneIds}::bigint[]) and d.deleted_at is null and s.machine is not null`.execute(
    db,
  );
  const works = rows.map(decodeWork);
  return new Map(works.map((work) => [work.signed.id, work]));
}

function decodeWork(row: WorkRow): KeyWork {
  const stored = decodeStored(row);
  const settings = decodePublishSettings(row.settings);
  const { isDsDue, wantedSince, remindedAt, currentNs } = row;
  return {
    ...stored,
    machine: withoutDestroyed(row.machine, stored.keys),
    loadedAt: row.loadedAt,
    domainId: row.id,
    accountId: row.accountId,
    name: decodeNameColumn(row.name),
    zoneId: row.zoneId,
    nameservers: nameserversOf(row, settings).map(foldCase),
    isDsDue,
    wantedSince,
    remindedAt,
    delegatedTo: delegatedTo(currentNs?.map(decodeNameColumn) ?? null, provingSets(row, settings).flat()),
  };
}

/** Removes keys without a private part: they cannot sign again, even if their DS record reappears. */
function withoutDestroyed(machine: Machine, keys: readonly DnssecKey[]): Machine {
  const usable = new Set(keys.filter(({ isUsable }) => isUsable).map(({ id }) => String(id)));
  const { serving, wanted, goal } = machine;
  const needed = new Set([...serving.keys, ...serving.dataSigners]);
  if (goal === 'signed' && wanted !== null) needed.add(wanted.sep).add(wanted.data);
  return {
    ...machine,
    keys: machine.keys.filter(({ id, isForeign }) => isForeign === true || usable.has(id) || needed.has(id)),
  };
}

/** Requested signing options. Omitted fields keep their value, or get the default. */
export interface SigningWishes {
  readonly denial?: DenialKind | undefined;
  readonly algorithm?: SigningAlgorithm | undefined;
  /** True for separate keys: one signs the keys, the other everything else. */
  readonly split?: boolean | undefined;
}

export function wishesOf({ denial, algorithm, split }: SigningWishes, stored: StoredDnssec | undefined) {
  const before = stored?.signed;
  return {
    denial: denial ?? before?.denial ?? 'nsec',
    algorithm: algorithm ?? (before?.algorithm as SigningAlgorithm) ?? SIGNING_ALGORITHM.ECDSAP256SHA256,
    split: split ?? before?.split ?? false,
  };
}

/**
 * Returns true if new keys are required. Earlier keys are used again, because the parent may still show their DS
 * record, unless they are destroyed or do not have the requested algorithm and split.
 */
export function needsOthers(
  machine: Machine,
  { signed, keys }: StoredDnssec,
  { algorithm, split }: Omit<ReturnType<typeof wishesOf>, 'denial'>,
): boolean {
  if (needsKeys(machine) || algorithm !== signed.algorithm || split !== signed.split) return true;
  return wantedIds(machine).some((id) => !keys.some((key) => String(key.id) === id && key.isUsable));
}

export async function saveWishes(
  trx: Database,
  domainId: number,
  { denial, algorithm, split }: ReturnType<typeof wishesOf>,
): Promise<{ id: number }> {
  const { rows } = await sql<{ id: number }>`
    insert into signed_zones as s (domain_id, account_id, goal, denial, algorithm, split, phase)
    values (${domainId}, (select account_id from domains where id = ${domainId}), 'signed', ${denial}, ${algorithm}, ${split}, 'off')
    on conflict (domain_id) do update set algorithm = excluded.algorithm, split = excluded.split,
      denial = case when s.phase = 'off' then excluded.denial else s.denial end
    returning id`.execute(trx);
  return rows[0] as { id: number };
}

/** Returns the algorithm and split of the wanted keys, so that an aborted change restores the earlier ones. */
export function waysOf({ wanted, keys }: Machine): { algorithm: number | null; split: boolean | null } {
  const key = keys.find(({ id }) => id === wanted?.sep);
  return { algorithm: key?.algorithm ?? null, split: wanted && wanted.sep !== wanted.data };
}

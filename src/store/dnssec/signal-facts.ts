// Loads the domains to be signalled at their nameservers (RFC 9615), with the CDS and CDNSKEY sets at their own apex.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { domainOfSignal } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface SignalFacts {
  /** The id of the domain's signed zone. */
  readonly id: number;
  readonly domain: Name;
  /** The nameservers of the domain's zone. Empty if it needs no signal. */
  readonly hosts: readonly Name[];
  readonly copies: readonly Omit<ZoneRecord, 'owner'>[];
  /** The zones that have its signal. */
  readonly signalledIn: readonly number[];
}

/** Operator zones for the signals of nameservers. Their names start with `_signal.` (RFC 9615 §2). */
export interface SignalZone {
  readonly id: number;
  readonly apex: Name;
}

const FIRST_NAME = '_signal.';
const END_OF_NAMES = '_signal/';
const IS_SIGNAL_ZONE = sql`z.name > ${FIRST_NAME} and z.name < ${END_OF_NAMES} and z.kind = 'operator'
  and z.deleted_at is null`;

export async function hasSignalZones(db: Database): Promise<boolean> {
  const { rows } = await sql`select from zones z where ${IS_SIGNAL_ZONE} limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns those of these zones that the fleet signs. */
export async function findSignalZones(db: Database, apexes: readonly Name[]): Promise<SignalZone[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    select z.id, z.name from zones z join signed_zones s on s.zone_name = z.name
    where z.name = any(${apexes.map(encodeNameColumn)}::text[]) and ${IS_SIGNAL_ZONE}
      and s.phase not in ('signing', 'unsigning', 'off') and not s.verbatim`.execute(db);
  return rows.map(({ id, name }) => ({ id, apex: decodeNameColumn(name) }));
}

export async function signalZonesById(db: Database, ids: readonly number[]): Promise<SignalZone[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    select z.id, z.name from zones z where z.id = any(${ids}::bigint[]) and ${IS_SIGNAL_ZONE}`.execute(db);
  return rows.map(({ id, name }) => ({ id, apex: decodeNameColumn(name) }));
}

const SIGNAL_KINDS = {
  /** The parent needs a signal and has none. */
  new: sql`phase = 'ds_wanted' and not had_ds and signalled_in is null`,
  /** The signals must be removed. */
  past: sql`signalled_in is not null and (phase <> 'ds_wanted' or had_ds)`,
  /** The signal may be outdated. */
  told: sql`signalled_in is not null`,
} as const satisfies Record<string, RawBuilder<unknown>>;

/** Returns signed zones of this kind with higher ids, in order. */
export async function nextSignals(
  db: Database,
  kind: keyof typeof SIGNAL_KINDS,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from signed_zones where domain_id is not null and id > ${after} and ${SIGNAL_KINDS[kind]}
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

interface FactRow {
  readonly id: number;
  readonly name: string;
  readonly signalledIn: number[] | null;
  readonly type: number | null;
  readonly ttl: number;
  readonly rdata: Buffer;
}

export async function loadSignalFacts(db: Database, ids: readonly number[]): Promise<SignalFacts[]> {
  const { rows } = await sql<FactRow>`
    select s.id, d.name, s.signalled_in as "signalledIn", r.type, r.ttl, r.rdata
    from signed_zones s join domains d on d.id = s.domain_id
      left join zones z on z.id = d.zone_id and z.deleted_at is null and d.deleted_at is null
        and s.phase = 'ds_wanted' and s.goal = 'signed' and not s.had_ds and not s.cds_delete
      left join zone_records r on r.zone_id = z.id and r.owner = z.name and not r.removed
        and r.type in (${TYPE.NS}, ${TYPE.CDS}, ${TYPE.CDNSKEY})
    where s.id = any(${ids}::bigint[])
    order by s.id`.execute(db);
  const facts = new Map<number, FactRow[]>();
  for (const row of rows) facts.set(row.id, [...(facts.get(row.id) ?? []), row]);
  return [...facts.values()].map(factsOf);
}

function factsOf(rows: readonly FactRow[]): SignalFacts {
  const [{ id, name, signalledIn }] = rows as [FactRow];
  const copies = rows
    .filter(({ type }) => type === TYPE.CDS || type === TYPE.CDNSKEY)
    .map(({ type, ttl, rdata }) => ({ type: type as number, ttl, rdata }));
  // A zone has no CDS records until its name is proved.
  const servers = copies.length === 0 ? [] : rows.filter(({ type }) => type === TYPE.NS);
  return {
    id,
    domain: decodeNameColumn(name),
    hosts: servers.map(({ rdata }) => foldCase(nameInRdata(rdata))),
    copies,
    signalledIn: signalledIn ?? [],
  };
}

/** Lists existing signals in the order of zones and owners, including those that no longer belong to a domain. */
export async function presentSignals(
  db: Database,
  after: { readonly zone: string; readonly owner: string },
  limit: number,
): Promise<{ zone: string; zoneId: number; owner: string }[]> {
  const { rows } = await sql<{ zone: string; zoneId: number; owner: string }>`
    select z.name as zone, z.id as "zoneId", r.owner from zones z cross join lateral (
      select r.owner from zone_records r
      where r.zone_id = z.id and r.owner > case when z.name = ${after.zone} then ${after.owner} else '' end
        and r.type in (${TYPE.CDS}, ${TYPE.CDNSKEY}) and not r.removed
      group by r.owner order by r.owner limit ${limit}) r
    where ${IS_SIGNAL_ZONE} and z.name >= ${after.zone}
    order by z.name, r.owner limit ${limit}`.execute(db);
  return rows;
}

/** Returns the signed zones of the domains to which these signals belong. */
export async function domainsOfSignals(
  db: Database,
  signals: readonly { readonly zone: string; readonly owner: string }[],
): Promise<number[]> {
  const names = signals.flatMap(({ zone, owner }) => {
    const domain = domainOfSignal(decodeNameColumn(owner), decodeNameColumn(zone));
    return domain === undefined ? [] : [encodeNameColumn(domain)];
  });
  const { rows } = await sql<{ id: number }>`
    select distinct s.id from zones z join domains d on d.zone_id = z.id join signed_zones s on s.domain_id = d.id
    where z.name = any(${names}::text[])`.execute(db);
  return rows.map(({ id }) => id);
}

/** Records which domains have all their signals, and which need none any longer. */
export async function noteSignals(
  db: Database,
  told: readonly number[],
  over: readonly number[],
): Promise<void> {
  await sql`
    update signed_zones set signalled_in = case when id = any(${over}::bigint[]) then null
      else coalesce(signalled_in, '{}') end
    where (id = any(${told}::bigint[]) and signalled_in is null)
      or (id = any(${over}::bigint[]) and signalled_in = '{}')`.execute(db);
}

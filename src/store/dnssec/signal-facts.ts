// Which domains are to be signalled at their nameservers (RFC 9615), and with what: the CDS and CDNSKEY sets that their own zones
// have at the apex.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { domainOfSignal } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface SignalFacts {
  /** Of its signed zone. */
  readonly id: number;
  readonly domain: Name;
  /** The nameservers that its zone names; none: it is not to be signalled. */
  readonly hosts: readonly Name[];
  readonly copies: readonly Omit<ZoneRecord, 'owner'>[];
  /** The zones that were told of it. */
  readonly signalledIn: readonly number[];
}

/** Zones of operators for the signals of their nameservers, by name: `_signal.` stands first (RFC 9615 §2). */
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

/** Those of these names that are signed here. */
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
  /** The parent is to be told, and nobody was yet. */
  new: sql`phase = 'ds_wanted' and not had_ds and signalled_in is null`,
  /** Signals are to be taken away. */
  past: sql`signalled_in is not null and (phase <> 'ds_wanted' or had_ds)`,
  /** What was told may have changed. */
  told: sql`signalled_in is not null`,
} as const satisfies Record<string, RawBuilder<unknown>>;

/** Signed zones of the kind after this id, in order. */
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
  // a zone shows no CDS while its name is not proved
  const servers = copies.length === 0 ? [] : rows.filter(({ type }) => type === TYPE.NS);
  return {
    id,
    domain: decodeNameColumn(name),
    hosts: servers.map(({ rdata }) => foldCase(nameInRdata(rdata))),
    copies,
    signalledIn: signalledIn ?? [],
  };
}

/** Signals that stand, in the order of zones and owners: what is found by no domain any more is found here. */
export async function standingSignals(
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

/** The signed zones of the domains that these are signals for, by the owner. */
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

/** Notes of domains whose zones are all told: that they were, or need no more be. */
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

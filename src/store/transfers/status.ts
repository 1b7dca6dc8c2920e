// State of the transfers of zones: what the nodes have sent to each peer, and what it has taken.

import { sql } from 'kysely';
import { TYPE } from '../../dns/type-codes.ts';
import { isNewer, serialIn } from '../../zone/serial.ts';
import type { Database } from '../postgres/database.ts';
import type { TransferForm } from './report-transfers.ts';

export interface ZoneTransfers {
  /** Folded text with the final dot. */
  readonly zone: string;
  /** Serial of the zone in the database. Undefined if it has no SOA. */
  readonly serial: number | undefined;
  readonly peers: readonly PeerTransfers[];
}

export interface PeerTransfers {
  readonly id: number;
  /** Null for a secondary of the domain. */
  readonly name: string | null;
  readonly addresses: readonly string[];
  readonly transfers: boolean;
  readonly notified: boolean;
  /** Newest serial that any node has sent to the peer. */
  readonly notifiedSerial: number | null;
  /** When the peer last acknowledged a NOTIFY. */
  readonly ackedAt: Date | null;
  /** Newest serial that the peer has taken from any node. */
  readonly servedSerial: number | null;
  readonly servedAt: Date | null;
  readonly form: TransferForm | null;
  readonly error: string | null;
  /** Seconds since the serial of the zone was written, or 0 if the peer has it. Null if the peer may not transfer. */
  readonly lagSeconds: number | null;
}

interface ZoneRow {
  id: number;
  name: string;
  soa: Buffer | null;
  /** Seconds since the SOA was written, at least. */
  age: number;
}

interface PeerRow {
  zoneId: number;
  id: number;
  name: string | null;
  addresses: string[];
  transfers: boolean;
  notified: boolean;
}

interface ReportRow {
  zoneId: number;
  peerId: number;
  notifiedSerial: number | null;
  ackedAt: Date | null;
  servedSerial: number | null;
  servedAt: Date | null;
  form: TransferForm | null;
  error: string | null;
}

/** Loads the transfers of zones to the peers of their policy and to secondaries of their domain. Skips absent zones. */
export async function loadTransfers(db: Database, names: readonly string[]): Promise<ZoneTransfers[]> {
  // A change that has been purged is older than those that are kept.
  const { rows: zones } = await sql<ZoneRow>`
    select z.id, z.name, r.rdata as soa, coalesce(extract(epoch from clock_timestamp() - coalesce(
      (select at from changes where id = r.version), (select min(at) from changes)))::float8, 0) as age
    from zones z left join zone_records r on r.zone_id = z.id and r.owner = z.name and r.type = ${TYPE.SOA}
      and not r.removed
    where z.name = any(${[...names]}) and z.deleted_at is null order by z.name`.execute(db);
  const ids = zones.map(({ id }) => id);
  const { rows: peers } = await sql<PeerRow>`
    with wanted as (select id, policy_id from zones where id = any(${ids}::bigint[])),
    listed as (
      select w.id as zone_id, l.peer_id, l.transfers, l.notified from wanted w join policy_peers l on l.policy_id =
        coalesce(w.policy_id, (select id from transfer_policies where is_default))
      union all
      select d.zone_id, p.id, p.transfers, p.notified from domains d join peers p on p.domain_id = d.id
      where d.zone_id = any(${ids}::bigint[]) and (p.transfers or p.notified))
    select l.zone_id as "zoneId", p.id, p.name, array(select host(a)::text from unnest(p.addresses) a) as addresses,
      l.transfers, l.notified
    from listed l join peers p on p.id = l.peer_id order by p.name, p.id`.execute(db);
  const { rows: reports } = await sql<ReportRow>`
    select zone_id as "zoneId", peer_id as "peerId", notified_serial as "notifiedSerial", acked_at as "ackedAt",
      served_serial as "servedSerial", served_at as "servedAt", form, error
    from transfer_reports where zone_id = any(${ids}::bigint[]) order by reported_at`.execute(db);
  return zones.map(({ id, name, soa, age }) => {
    const serial = soa === null ? undefined : serialIn(soa);
    const ofZone = peers.filter(({ zoneId }) => zoneId === id);
    const peersOfZone = ofZone.map(({ zoneId, ...peer }) => {
      const ofPeer = reports.filter((report) => report.zoneId === zoneId && report.peerId === peer.id);
      const of = merged(ofPeer);
      const isAhead = of.servedSerial !== null && serial !== undefined && isNewer(of.servedSerial, serial);
      const error = of.error ?? (isAhead ? IS_AHEAD : null);
      return { ...peer, ...of, error, lagSeconds: lagOf(peer, ofPeer, { serial, age }) };
    });
    return { zone: name, serial, peers: peersOfZone };
  });
}

/** The zone was restored, or unloaded and loaded again. */
const IS_AHEAD = 'the peer has a newer serial than the zone: raise the serial of the zone';

/** Merges the reports of all nodes about one peer. The newest report is last. */
function merged(
  reports: readonly ReportRow[],
): Omit<PeerTransfers, keyof Omit<PeerRow, 'zoneId'> | 'lagSeconds'> {
  const notified = newest(reports, ({ notifiedSerial }) => notifiedSerial);
  const served = newest(reports, ({ servedSerial }) => servedSerial);
  const acked = reports.flatMap(({ ackedAt }) => ackedAt?.getTime() ?? []);
  return {
    notifiedSerial: notified?.notifiedSerial ?? null,
    ackedAt: acked.length === 0 ? null : new Date(Math.max(...acked)),
    servedSerial: served?.servedSerial ?? null,
    servedAt: served?.servedAt ?? null,
    form: served?.form ?? null,
    error: reports.at(-1)?.error ?? null,
  };
}

/** Returns the last report with the newest serial (RFC 1982). */
function newest(
  reports: readonly ReportRow[],
  serialOf: (report: ReportRow) => number | null,
): ReportRow | undefined {
  let found: ReportRow | undefined;
  for (const report of reports) {
    const serial = serialOf(report);
    if (serial === null) continue;
    const before = found && serialOf(found);
    if (before === undefined || before === null || !isNewer(before, serial)) found = report;
  }
  return found;
}

function lagOf(
  { transfers }: Pick<PeerRow, 'transfers'>,
  reports: readonly ReportRow[],
  { serial, age }: { readonly serial: number | undefined; readonly age: number },
): number | null {
  if (!transfers || serial === undefined) return null;
  const isCurrent = reports.some(({ servedSerial }) => servedSerial === serial);
  return isCurrent ? 0 : Math.max(0, Math.floor(age));
}

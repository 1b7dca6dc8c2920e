// Updates the signals of domains that await their first DS record (RFC 9615): new ones, ended ones, and some existing
// ones, whose nameservers or keys may have changed. Each nameserver zone gets one change per round, because a change in
// every domain's transaction would make all domains wait for that zone.

import { sql } from 'kysely';
import { type Name, parentOf } from '../../dns/name.ts';
import { isSignal, signalName, signalZone } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockSubject, REFRESH, writeSigning } from '../signing/write-signing.ts';
import {
  domainsOfSignals,
  findSignalZones,
  hasSignalZones,
  loadSignalFacts,
  nextSignals,
  noteSignals,
  presentSignals,
  type SignalFacts,
  type SignalZone,
  signalZonesById,
} from './signal-facts.ts';

/** The position at which the next round continues. */
export interface SignalCursor {
  readonly fresh: number;
  readonly past: number;
  readonly told: number;
  readonly standing: { readonly zone: string; readonly owner: string };
}

export const FIRST_SIGNALS: SignalCursor = {
  fresh: 0,
  past: 0,
  told: 0,
  standing: { zone: '', owner: '' },
};

interface SignalRound {
  readonly cursor: SignalCursor;
  /** Number of names that were added, removed or changed. */
  readonly changed: number;
  /** True if domains still wait for their signals to be added or removed. */
  readonly isMore: boolean;
}

/** Domains of each kind per round, which limits the size of a change. */
const DOMAINS = 500;

export async function publishSignals(
  db: Database,
  cursor: SignalCursor,
  onError: (error: unknown) => void,
  limit: number = DOMAINS,
): Promise<SignalRound> {
  if (!(await hasSignalZones(db))) return { cursor: FIRST_SIGNALS, changed: 0, isMore: false };
  const fresh = await nextSignals(db, 'new', cursor.fresh, limit);
  const past = await nextSignals(db, 'past', cursor.past, limit);
  const told = await nextSignals(db, 'told', cursor.told, limit);
  const standing = await presentSignals(db, cursor.standing, limit);
  const ids = [...new Set([...fresh, ...past, ...told, ...(await domainsOfSignals(db, standing))])];
  const facts = await loadSignalFacts(db, ids);
  const known = await zonesOf(db, facts, standing);
  const failed = new Set<number>();
  let changed = 0;
  for (const [zone, order] of await zonesToWrite(db, facts, known, standing)) {
    try {
      changed += await writeSignals(db, { zone, ...order });
    } catch (error) {
      for (const id of order.ids) failed.add(id); // retried later, without delaying other zones
      onError(error);
    }
  }
  const done = (list: readonly number[]) => list.filter((id) => !failed.has(id));
  await noteSignals(db, done(fresh), done(past));
  const last = standing.at(-1);
  return {
    cursor: {
      fresh: nextOf(fresh, limit),
      past: nextOf(past, limit),
      told: nextOf(told, limit),
      standing: standing.length < limit || last === undefined ? FIRST_SIGNALS.standing : last,
    },
    changed,
    isMore: fresh.length === limit || past.length === limit,
  };
}

function nextOf(ids: readonly number[], limit: number): number {
  return ids.length < limit ? 0 : (ids.at(-1) as number);
}

type Standing = Awaited<ReturnType<typeof presentSignals>>;

/** Returns all affected zones: of present and past nameservers of the domains, and zones with existing signals. */
async function zonesOf(
  db: Database,
  facts: readonly SignalFacts[],
  standing: Standing,
): Promise<SignalZone[]> {
  const hosts = new Set(facts.flatMap((each) => each.hosts));
  const apexes = [...hosts].flatMap((host) => signalZone(host) ?? []);
  const signed = await findSignalZones(db, apexes);
  const others = [
    ...facts.flatMap(({ signalledIn }) => signalledIn),
    ...standing.map(({ zoneId }) => zoneId),
  ];
  const isKnown = new Set(signed.map(({ id }) => id));
  const rest = [...new Set(others)].filter((id) => !isKnown.has(id));
  return [...signed, ...(rest.length > 0 ? await signalZonesById(db, rest) : [])];
}

/** Determines without locks which zones differ, so that only those are locked. */
async function zonesToWrite(
  db: Database,
  facts: readonly SignalFacts[],
  zones: readonly SignalZone[],
  standing: Standing,
): Promise<Map<SignalZone, { readonly ids: number[]; readonly owners: Name[] }>> {
  const orders = new Map<SignalZone, { ids: number[]; owners: Name[] }>();
  for (const zone of zones) {
    const { id, apex } = zone;
    const concerned = facts.filter((each) => isSignalledIn(each, apex) || each.signalledIn.includes(id));
    const here = standing.filter(({ zoneId }) => zoneId === id).map(({ owner }) => decodeNameColumn(owner));
    const ofNobody = new Set(here);
    const found = facts.filter(({ domain }) => {
      const owner = signalName(domain, apex);
      return owner !== undefined && ofNobody.delete(owner);
    });
    const owners = [...ofNobody];
    const all = [...new Set([...concerned, ...found])];
    const wanted = wantedAt(apex, all, owners);
    if (wanted.size === 0) continue;
    const isNoted = all.every((each) => isSignalledIn(each, apex) === each.signalledIn.includes(id));
    const stands = await readOwners(db, id, [...wanted.keys()]);
    if (isNoted && differing(apex, wanted, stands).size === 0) continue;
    orders.set(zone, { ids: all.map((each) => each.id), owners });
  }
  return orders;
}

interface SignalOrder {
  readonly zone: SignalZone;
  /** Signed zones of domains that have or had signals there. */
  readonly ids: readonly number[];
  /** Names in the zone that may no longer belong to a domain. */
  readonly owners: readonly Name[];
}

/**
 * Updates the signals in a nameserver's zone in one change, under the zone's lock. Returns the number of changed names.
 * Throws DnssecUnavailable.
 */
async function writeSignals(db: Database, { zone, ids, owners }: SignalOrder): Promise<number> {
  const { apex } = zone;
  return await inTransaction(db, async (trx) => {
    const locked = await lockSubject(trx, { zoneName: encodeNameColumn(apex) });
    const { signed } = locked ?? {};
    const isThere = locked?.zone !== undefined && isWrittenSigned(signed);
    const facts = await loadSignalFacts(trx, ids);
    const here = isThere ? facts.filter((each) => isSignalledIn(each, apex)) : [];
    let changed = 0;
    if (isThere && locked.zone !== undefined) {
      const wanted = wantedAt(apex, facts, owners);
      const standing = await readOwners(trx, locked.zone.id, [...wanted.keys()]);
      const replaced = differing(apex, wanted, standing);
      changed = replaced.size;
      // Changes the zone's serial, but logs no change for a customer.
      if (changed > 0)
        await writeSigning(trx, locked, { signed, names: [...replaced.keys()], replaced }, REFRESH);
    }
    await noteZone(trx, zone.id, { ids, toldIds: here.map(({ id }) => id) });
    return changed;
  });
}

/** Returns true if the domain needs a signal in the zone. */
function isSignalledIn({ hosts, domain }: SignalFacts, apex: Name): boolean {
  return hosts.includes(parentOf(apex)) && signalName(domain, apex) !== undefined;
}

/** Returns the records wanted at the domains' names in the zone, and none at `owners` that belong to no domain. */
function wantedAt(
  apex: Name,
  facts: readonly SignalFacts[],
  owners: readonly Name[],
): Map<Name, readonly ZoneRecord[]> {
  const wanted = new Map<Name, readonly ZoneRecord[]>(owners.map((owner) => [owner, []]));
  for (const each of facts) {
    const owner = signalName(each.domain, apex);
    if (owner === undefined) continue;
    const copies = isSignalledIn(each, apex) ? each.copies : [];
    wanted.set(
      owner,
      copies.map((copy) => ({ owner, ...copy })),
    );
  }
  return wanted;
}

/** Returns the wanted names whose present records differ. */
function differing(
  apex: Name,
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
  standing: readonly ZoneRecord[],
): Map<Name, readonly ZoneRecord[]> {
  const textOf = (records: readonly ZoneRecord[]) =>
    records
      .map(({ type, ttl, rdata }) => `${type} ${ttl} ${Buffer.from(rdata).toString('base64')}`)
      .sort()
      .join();
  const stood = new Map<Name, ZoneRecord[]>();
  for (const record of standing.filter((each) => isSignal(apex, each)))
    stood.set(record.owner, [...(stood.get(record.owner) ?? []), record]);
  return new Map(
    [...wanted].filter(([owner, records]) => textOf(records) !== textOf(stood.get(owner) ?? [])),
  );
}

async function noteZone(
  trx: Database,
  zoneId: number,
  { ids, toldIds }: { readonly ids: readonly number[]; readonly toldIds: readonly number[] },
): Promise<void> {
  await sql`
    update signed_zones set signalled_in = array_remove(signalled_in, ${zoneId}::bigint)
      || case when id = any(${toldIds}::bigint[]) then array[${zoneId}::bigint] else '{}'::bigint[] end
    where id = any(${ids}::bigint[])
      and (id = any(${toldIds}::bigint[])) <> coalesce(${zoneId}::bigint = any(signalled_in), false)`.execute(
    trx,
  );
}

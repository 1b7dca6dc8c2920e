// One round over the signals of domains that await their first DS (RFC 9615): those that are new, those that are over, and some of
// those that stand, whose nameservers or keys may have changed. In a domain's own transaction the zone of its nameserver would
// make all domains wait for each other; so each such zone gets one change a round.

import type { Name } from '../../dns/name.ts';
import { signalName, signalZone } from '../../zone/signing/signals.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import {
  domainsOfSignals,
  findSignalZones,
  hasSignalZones,
  loadSignalFacts,
  nextSignals,
  noteSignals,
  type SignalFacts,
  type SignalZone,
  signalZonesById,
  standingSignals,
} from './signal-facts.ts';
import { differing, isSignalledIn, wantedAt, writeSignals } from './write-signals.ts';

/** Where the next round goes on. */
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
  /** Names that came, went or changed. */
  readonly changed: number;
  /** Domains are left that await their signals, or the end of them. */
  readonly isMore: boolean;
}

/** Of each kind, in a round: bounds the size of a change. */
const DOMAINS = 500;

export async function publishSignals(
  db: Database,
  cursor: SignalCursor,
  onTrouble: (error: unknown) => void,
  limit: number = DOMAINS,
): Promise<SignalRound> {
  if (!(await hasSignalZones(db))) return { cursor: FIRST_SIGNALS, changed: 0, isMore: false };
  const fresh = await nextSignals(db, 'new', cursor.fresh, limit);
  const past = await nextSignals(db, 'past', cursor.past, limit);
  const told = await nextSignals(db, 'told', cursor.told, limit);
  const standing = await standingSignals(db, cursor.standing, limit);
  const ids = [...new Set([...fresh, ...past, ...told, ...(await domainsOfSignals(db, standing))])];
  const facts = await loadSignalFacts(db, ids);
  const known = await zonesOf(db, facts, standing);
  const failed = new Set<number>();
  let changed = 0;
  for (const [zone, order] of await zonesToWrite(db, facts, known, standing)) {
    try {
      changed += await writeSignals(db, { zone, ...order });
    } catch (error) {
      for (const id of order.ids) failed.add(id); // they are tried again, and keep no other zone from its turn
      onTrouble(error);
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

type Standing = Awaited<ReturnType<typeof standingSignals>>;

/** Every zone that is concerned: of nameservers that the domains have, and had, and where signals stand. */
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

/** Without a lock: only zones in which something differs are locked. */
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

// Brings the signals of one nameserver's zone in line with the domains that they are for: one change, under the zone's lock.

import { sql } from 'kysely';
import { type Name, parentOf } from '../../dns/name.ts';
import { isSignal, signalName } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockSubject } from '../signing/lock-signed-zone.ts';
import { writeSigning } from '../signing/write-signing.ts';
import { loadSignalFacts, type SignalFacts, type SignalZone } from './signal-facts.ts';

interface SignalOrder {
  readonly zone: SignalZone;
  /** Signed zones of domains that are, or were, signalled there. */
  readonly ids: readonly number[];
  /** Names in the zone that may be nobody's any more. */
  readonly owners: readonly Name[];
}

/** The number of names that changed. Throws DnssecUnavailable. */
export async function writeSignals(db: Database, { zone, ids, owners }: SignalOrder): Promise<number> {
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
      // a serial for each change, and no row in any customer's log
      if (changed > 0)
        await writeSigning(trx, locked, { signed, names: [...replaced.keys()], replaced }, 'refresh');
    }
    await noteZone(trx, zone.id, { ids, toldIds: here.map(({ id }) => id) });
    return changed;
  });
}

/** Whether a domain is to be signalled in the zone. */
export function isSignalledIn({ hosts, domain }: SignalFacts, apex: Name): boolean {
  return hosts.includes(parentOf(apex)) && signalName(domain, apex) !== undefined;
}

/** What shall stand at the names that these domains have in the zone, and at others that may go. */
export function wantedAt(
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

/** Those of the names at which other signals stand. */
export function differing(
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

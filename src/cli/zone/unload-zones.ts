// `zone unload`: removes zones in one transaction. Zones that do not exist or are customers' domains make the exit code 1; the
// others are still removed.

import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  CustomerZoneError,
  RefusedZonesError,
  unloadZones as removeZones,
  type UnloadedZone,
} from '../../store/zones/save-zones.ts';
import type { Audited } from '../terminal/cli.ts';
import { Listing, type Output } from '../terminal/output.ts';

interface UnloadOrder {
  readonly apexes: readonly Name[];
  readonly actor: string;
  /** Removes the zones with an audit log entry. */
  readonly audited: (db: Database, unload: Audited<UnloadedZone[]>) => Promise<UnloadedZone[]>;
}

type Removed = UnloadedZone | { readonly apex: Name; readonly outcome: 'refused'; readonly message: string };

export async function unloadZones(db: Database, order: UnloadOrder, output: Output): Promise<number> {
  const apexes = [...new Set(order.apexes)];
  const listing = new Listing(output, 'zones');
  const counts = { unloaded: 0, absent: 0, refused: 0 };
  for (const removed of await remove(db, apexes, order)) {
    const { apex, outcome } = removed;
    const zone = printName(apex);
    counts[outcome]++;
    if (outcome === 'unloaded') {
      const { version } = removed;
      await listing.add({ json: { zone, outcome, version }, lines: [`unloaded ${zone} version ${version}`] });
    } else {
      const message = removed.outcome === 'refused' ? removed.message : 'no such zone';
      const more = outcome === 'refused' ? { message } : {};
      await listing.add({ json: { zone, outcome, ...more }, problems: [`${zone}: ${message}`] });
    }
  }
  await listing.end({ summary: counts });
  return counts.absent + counts.refused > 0 ? 1 : 0;
}

async function remove(
  db: Database,
  apexes: readonly Name[],
  order: Pick<UnloadOrder, 'actor' | 'audited'>,
): Promise<Removed[]> {
  try {
    return await order.audited(db, async (trx, tell) => {
      const removed = await removeZones(trx, apexes, { source: 'cli', actor: order.actor });
      const names = removed.flatMap(({ apex, outcome }) => (outcome === 'unloaded' ? printName(apex) : []));
      if (names.length > 0) tell({ target: { name: names[0] }, before: { zones: names.length, names } });
      return removed;
    });
  } catch (error) {
    if (!(error instanceof RefusedZonesError)) throw error;
    const isCustomers = error instanceof CustomerZoneError;
    const message = isCustomers ? "this is a customer's domain; use zonefleet domain" : error.why;
    const others = apexes.filter((apex) => !error.apexes.includes(apex));
    const refused: Removed[] = error.apexes.map((apex) => ({ apex, outcome: 'refused', message }));
    return [...refused, ...(await remove(db, others, order))];
  }
}

// `zone unload`: takes zones out of service, all in one transaction. A zone that is not there, or is a customer's domain,
// makes the answer "no", and the others go all the same.

import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  CustomerZoneError,
  unloadZones as removeZones,
  type UnloadedZone,
} from '../../store/zones/save-zones.ts';
import { Listing, type Output } from '../terminal/output.ts';

interface UnloadOrder {
  readonly apexes: readonly Name[];
  readonly actor: string;
}

type Removed = UnloadedZone | { readonly apex: Name; readonly outcome: 'refused' };

export async function unloadZones(db: Database, order: UnloadOrder, output: Output): Promise<number> {
  const apexes = [...new Set(order.apexes)];
  const listing = new Listing(output, 'zones');
  const counts = { unloaded: 0, absent: 0, refused: 0 };
  for (const removed of await remove(db, apexes, order.actor)) {
    const { apex, outcome } = removed;
    const zone = printName(apex);
    counts[outcome]++;
    if (outcome === 'unloaded') {
      const { version } = removed;
      await listing.add({ json: { zone, outcome, version }, lines: [`unloaded ${zone} version ${version}`] });
    } else {
      const message = outcome === 'absent' ? 'no such zone' : "a customer's domain, see zonefleet domain";
      const more = outcome === 'refused' ? { message } : {};
      await listing.add({ json: { zone, outcome, ...more }, problems: [`${zone}: ${message}`] });
    }
  }
  await listing.end({ summary: counts });
  return counts.absent + counts.refused > 0 ? 1 : 0;
}

async function remove(db: Database, apexes: readonly Name[], actor: string): Promise<Removed[]> {
  try {
    return await removeZones(db, apexes, { source: 'cli', actor });
  } catch (error) {
    if (!(error instanceof CustomerZoneError)) throw error;
    const customers = error.apexes;
    const others = apexes.filter((apex) => !customers.includes(apex));
    const refused: Removed[] = customers.map((apex) => ({ apex, outcome: 'refused' }));
    return [...refused, ...(await remove(db, others, actor))];
  }
}

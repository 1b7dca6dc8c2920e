// `zone unload`: takes zones out of service, all in one transaction. A zone that is not there makes the answer "no",
// and the others go all the same.

import { type Name, printName } from '../dns/name.ts';
import type { Database } from '../store/database.ts';
import { unloadZones as removeZones } from '../store/save-zones.ts';
import { Listing, type Output } from './output.ts';

export interface UnloadOrder {
  readonly apexes: readonly Name[];
  readonly actor: string;
}

export async function unloadZones(db: Database, order: UnloadOrder, output: Output): Promise<number> {
  const apexes = [...new Set(order.apexes)];
  const results = await removeZones(db, apexes, { source: 'cli', actor: order.actor });
  const listing = new Listing(output, 'zones');
  let absent = 0;
  for (const { apex, outcome, version } of results) {
    const zone = printName(apex);
    if (outcome === 'absent') {
      absent++;
      await listing.add({ json: { zone, outcome }, problems: [`${zone}: no such zone`] });
    } else {
      await listing.add({ json: { zone, outcome, version }, lines: [`unloaded ${zone} version ${version}`] });
    }
  }
  await listing.end({ summary: { unloaded: results.length - absent, absent } });
  return absent > 0 ? 1 : 0;
}

// A set of zones in a Zonefleet database.

import { parseName } from '../../src/dns/name.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { migrate } from '../../src/features/migrate.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { say } from '../say.ts';
import type { ZoneSet } from '../zones/zone-set.ts';
import { benchCluster } from './cluster.ts';
import { loadRecipe } from './load-recipe.ts';

export const BENCH_SETTINGS = {
  edgeIpv4: ['192.0.2.1'],
  edgeIpv6: ['2001:db8::1'],
  nameserverSets: [['ns1.nameservers.test', 'ns2.nameservers.test']],
  soaRname: 'hostmaster.nameservers.test',
};

/** The database's URL. */
export async function zonefleetDatabase(set: ZoneSet): Promise<string> {
  const cluster = await benchCluster();
  return cluster.database(`zonefleet_${set.name}`, async (url) => {
    const startedMs = performance.now();
    const db = openDatabase(url, { limits: OPERATOR_LIMITS });
    try {
      await migrate(db, BENCH_SETTINGS);
      if (set.recipe !== undefined) await loadRecipe(url, set.recipe);
      for (const { apex, text } of set.zones) {
        const origin = parseName(apex);
        const { records, problems } = parseZoneFile(text, { origin });
        if (problems.length > 0) throw new Error(`${apex} has problems: ${problems[0]?.message}`);
        await saveZones(db, [{ apex: origin, records }], { source: 'test' });
      }
    } finally {
      await db.destroy();
    }
    say(`${set.name}: loaded into Postgres in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  });
}

// Verifies the signed zones that nodes serve.

import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { checkZoneSignatures } from '../../store/signing/check-zone-signatures.ts';
import { Listing, type Output } from '../terminal/output.ts';

export async function verifyZones(db: Database, apexes: readonly Name[], output: Output): Promise<number> {
  const listing = new Listing(output, 'zones');
  let isAllWell = true;
  for (const apex of apexes) {
    const zone = printName(apex);
    const faults = await checkZoneSignatures(db, apex);
    const problems = faults ?? ['no such zone, or it is not served'];
    isAllWell &&= problems.length === 0;
    await listing.add({
      json: { zone, outcome: problems.length === 0 ? 'verified' : 'faulty', faults: problems },
      lines: problems.length === 0 ? [`verified ${zone}`] : [],
      problems: problems.map((fault) => `${zone}: ${fault}`),
    });
  }
  await listing.end({});
  return isAllWell ? 0 : 1;
}

// Customers' domains with the records of the recipe: equal numbers of unsigned and signed ones, and one signed domain with
// many names. They are created by production code, so they can be edited and re-signed.

import { parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { signInPieces } from '../../src/store/signing/sign-pieces.ts';
import { newAccount, newDomain, saved } from '../../test/support/database/domains.ts';
import { enabled, useSecrets } from '../../test/support/database/signed-zones.ts';
import { edit } from '../../test/support/zone/customer-records.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { BENCH_SETTINGS } from '../postgres/zonefleet-database.ts';
import { say } from '../say.ts';
import { RECIPE } from '../zones/recipe-zones.ts';

const NAMES_AN_EDIT = 5000;
const NEVER = new AbortController().signal;
/** Name of the large domain. */
export const LARGE = 'large.test.';

export interface SignedDomains {
  /** Number of each kind. */
  readonly domains: number;
  readonly names: number;
  readonly url: string;
}

export const unsignedName = (index: number) => `u${String(index).padStart(5, '0')}.test.`;
export const signedName = (index: number) => `s${String(index).padStart(5, '0')}.test.`;
export const largeOwner = (index: number) => `host${String(index).padStart(6, '0')}`;

export async function makeSignedDomains(domains: number, names: number): Promise<SignedDomains> {
  const cluster = await benchCluster();
  const url = await cluster.database(`signed_domains_${domains}_${names}`, async (made) => {
    const db = openDatabase(made, { limits: OPERATOR_LIMITS });
    try {
      await migrate(db, BENCH_SETTINGS);
      await runOn(made, 'update plans set max_records = null, max_domains = null');
      useSecrets(db);
      const account = await newAccount(db, 'bench@example.org');
      for (let i = 0; i < domains; i++) {
        await addSmall(db, account, unsignedName(i));
        await enabled(db, { domainId: await addSmall(db, account, signedName(i)) });
      }
      say(`${domains} unsigned and ${domains} signed domains are created`);
      await addLarge(db, account, names);
    } finally {
      await db.destroy();
    }
    // Dirty pages that are written later would delay the commits of edits.
    await runOn(made, 'vacuum (analyze)', 'checkpoint');
  });
  return { domains, names, url };
}

export async function addSmall(db: Database, account: number, name: string): Promise<number> {
  const { id } = await newDomain(db, account, name);
  await saved(db, id, edit({ create: customerLines(name) }, parseName(name)));
  return id;
}

/** Returns the records without SOA and NS, which belong to the service. */
function customerLines(name: string): string[] {
  return RECIPE.split('\n')
    .filter((line) => / (A|CNAME|MX|TXT) /.test(line))
    .map((line) => line.replaceAll('"', '').replace(/ (CNAME|MX 10) (\S+)$/, ` $1 $2.${name}`))
    .map((line) => line.replace(/^(\S+) /, '$1 300 '));
}

async function addLarge(db: Database, account: number, names: number): Promise<void> {
  if (names === 0) return;
  const apex = parseName(LARGE);
  const { id: domainId } = await newDomain(db, account, LARGE);
  for (let first = 0; first < names; first += NAMES_AN_EDIT) {
    const count = Math.min(NAMES_AN_EDIT, names - first);
    const create = Array.from({ length: count }, (_, i) => `${largeOwner(first + i)} 300 A 198.51.100.1`);
    await saved(db, domainId, edit({ create }, apex));
  }
  const startedMs = performance.now();
  const { kind, signed } = await enabled(db, { domainId });
  if (kind === 'signing') await signInPieces(db, signed.id, NEVER);
  say(`${names} names are signed in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { openBackgroundScan } from '../../src/store/change/open-scan.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { listDomainChanges } from '../../src/store/records/load-changes.ts';
import { claimDueScans, countScansInHand } from '../../src/store/scans/begin-scan.ts';
import { importScanned, type ScannedImport } from '../../src/store/scans/import-scanned.ts';
import { BY, expectPublished, listed, newAccount, newDomain, saved } from '../support/database/domains.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { scanOf } from '../support/world/made-scans.ts';

const { db, query, value } = sharedDatabase();

describe('claim-due-scans', () => {
  /** Creates an account with this many scans. The first is due since `sinceSeconds`, each further one a second later. */
  async function scansOf(account: string, count: number, sinceSeconds: number): Promise<string[]> {
    const accountId = await newAccount(db, `${account}@example.org`);
    const names = Array.from({ length: count }, (_, i) => `${account}${i}.com.`);
    for (const [i, name] of names.entries()) {
      const { id } = await newDomain(db, accountId, name);
      await openBackgroundScan(db, id, BY.by);
      await query`
      update scans set due_at = now() - make_interval(secs => ${sinceSeconds - i}) where domain_id = ${id}`;
    }
    return names;
  }

  async function claim(limit = 10): Promise<string[]> {
    const ids = (await claimDueScans(db, limit)).map(({ scanId }) => scanId);
    return (
      await query<{ name: string }>`
    select d.name from scans s join domains d on d.id = s.domain_id where s.id = any(${ids})`
    )
      .map(({ name }) => name)
      .sort();
  }

  test('an account with many domains does not delay others, and each account gets its longest due first', async () => {
    await scansOf('bulk', 8, 1000);
    await scansOf('late', 2, 100);
    await scansOf('last', 1, 50);
    expect(await claim(4)).toEqual(['bulk0.com.', 'bulk1.com.', 'last0.com.', 'late0.com.']);
    expect(await claim(4)).toEqual(['bulk2.com.', 'bulk3.com.', 'bulk4.com.', 'late1.com.']);
    expect(await claim(4)).toEqual(['bulk5.com.', 'bulk6.com.', 'bulk7.com.']);
    expect(await claim(4)).toEqual([]);
  });

  test('even if scans are claimed one at a time, and immediately for a new account', async () => {
    await scansOf('bulk', 8, 1000);
    expect([await claim(1), await claim(1)]).toEqual([['bulk0.com.'], ['bulk1.com.']]);
    await scansOf('late', 3, 10);
    const claimed = [];
    for (let i = 0; i < 5; i++) claimed.push(...(await claim(1)));
    expect(claimed).toEqual(['late0.com.', 'late1.com.', 'bulk2.com.', 'late2.com.', 'bulk3.com.']);
  });

  test('scans that are not due, finished or claimed are skipped, and claimed again when their lease ends', async () => {
    const [now, later, over] = (await scansOf('a', 3, 10)) as [string, string, string];
    const at = (name: string, change: ReturnType<typeof sql>) =>
      query`update scans s set ${change} from domains d where d.id = s.domain_id and d.name = ${name}`;
    await at(later, sql`due_at = now() + interval '1 minute'`);
    await at(over, sql`due_at = null, finished_at = now()`);
    expect(await claim()).toEqual([now]);
    expect(await claim()).toEqual([]);
    await at(now, sql`due_at = now()`);
    expect(await claim()).toEqual([now]);
  });

  test('concurrent processes never claim the same scan', async () => {
    const names = await scansOf('a', 6, 10);
    const claimed = await Promise.all([claim(3), claim(3), claim(3)]);
    while (claimed.flat().length < names.length) claimed.push(await claim(3));
    expect(claimed.flat().sort()).toEqual(names);
  });

  test('a scan’s turn is its position among the waiting and running scans of its account', async () => {
    await scansOf('bulk', 3, 1000);
    await scansOf('late', 1, 10);
    const turns = async (limit: number) => (await claimDueScans(db, limit)).map(({ turn }) => turn).sort();
    expect(await turns(2)).toEqual([2, 2]);
    expect(await turns(10)).toEqual([4, 6]);
    const id = await value<number>`select id from accounts where email = 'bulk@example.org'`;
    expect(await countScansInHand(db, id as number)).toBe(3);
  });
});

describe('import-scanned', () => {
  // Only missing record sets are added, compared with the records at the time of writing.
  const MAIL = ['@ MX 10 mail.example.com', '@ MX 20 mail2.example.com', '@ 600 TXT v=spf1 mx -all'];
  let id: number;
  beforeEach(async () => {
    ({ id } = await newDomain(db, await newAccount(db, 'a@example.org'), undefined));
  });

  const bring = (lines: readonly string[], more: Partial<ScannedImport> = {}) =>
    importScanned(db, { domainId: id, records: scanOf(lines).records, by: BY.by, narrowing: null, ...more });
  const here = async () => (await listed(db, id)).map((line) => line.replace(/^\d+: /, ''));

  test('an address gets its country', async () => {
    await bring(['www A 192.0.2.1', '@ TXT hello'], { countryOf: () => 'NL' });
    const [change] = await listDomainChanges(db, id, { limit: 1 });
    expect(change?.ops.map(({ after }) => after?.destCountry)).toEqual(['NL', null]);
  });

  test('a conflicting set fails completely, and the others are imported', async () => {
    await saved(db, id, ['www A 192.0.2.9 ; proxied', 'blog CNAME other.example.net']);
    const imported = await bring([
      'www AAAA 2001:db8::1',
      'www AAAA 2001:db8::2',
      'blog TXT hello',
      'shop A 192.0.2.3',
    ]);
    expect(imported).toMatchObject({ kind: 'imported', created: 1, present: 0 });
    const failed = imported.kind === 'imported' ? imported.failed : [];
    expect(failed.map(({ type }) => type)).toEqual(['AAAA', 'AAAA', 'TXT']);
    expect(failed[0]?.error).toMatch(/must all be proxied or none/);
    expect(failed[2]?.error).toMatch(/has a CNAME/);
    expect(await here()).toContain('shop 300 A 192.0.2.3');
    await expectPublished(db, id);
  });

  test('a delegation is imported with its glue', async () => {
    const lines = ['dev NS ns1.dev.example.com', 'ns1.dev A 192.0.2.53', 'dev NS ns.example.net'];
    expect(await bring(lines)).toMatchObject({ created: 3, failed: [] });
  });

  test('a domain whose plan does not allow all records gets none', async () => {
    const account = await newAccount(db, 'b@example.org');
    const free = await newDomain(db, account, 'free.org.', { planSlug: 'free' });
    const none = await newDomain(db, account, 'none.org.', { planSlug: null });
    const lines = Array.from({ length: 201 }, (_, i) => `n${i} A 192.0.2.1`);
    const records = (domain: typeof free) => scanOf(lines, { domain: domain.name }).records;
    expect(await bring([], { domainId: free.id, records: records(free) })).toEqual({
      kind: 'refused',
      code: 'plan_limit',
      message: 'the plan allows 200 records, but this would be 201',
      limit: 200,
    });
    expect(await bring([], { domainId: none.id, records: records(none) })).toMatchObject({
      code: 'plan_limit',
      limit: 0,
    });
    expect(await listed(db, free.id, free.name)).toEqual([]);
  });

  test('a restricted key that may not write one of the missing records writes none', async () => {
    const narrowing = { names: ['www.example.com'], types: ['A'] };
    const lines = ['www A 192.0.2.1', ...MAIL];
    expect(await bring(lines, { narrowing })).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(await here()).toEqual([]);
    await bring(MAIL);
    expect(await bring(lines, { narrowing })).toMatchObject({ kind: 'imported', created: 1 });
  });

  test('a disabled or deleted domain imports nothing', async () => {
    await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
    expect(await bring(MAIL)).toMatchObject({ kind: 'refused', code: 'domain_disabled' });
    await deleteDomain(db, { ...BY, domainId: id });
    expect(await bring(MAIL)).toMatchObject({ kind: 'refused', code: 'not_found' });
  });
});

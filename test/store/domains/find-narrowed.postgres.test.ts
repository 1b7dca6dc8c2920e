// Domains found by a search or a finding.

import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { SOUGHT_FINDINGS } from '../../../src/store/domains/find-narrowed.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains,
} from '../../../src/store/domains/list-domains.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const BY_NAME: DomainOrder = { sort: 'name', descending: false };

const { db, query } = keptDatabase();
let me: { accountId: number; isAdmin: boolean };
const admin = { accountId: 4711, isAdmin: true };

beforeAll(async () => {
  me = { accountId: await newAccount(db, 'me@example.org'), isAdmin: false };
});

const pageOf = async (caller: typeof me, filter: DomainFilter, order = BY_NAME, limit = 100) =>
  (await listDomains(db, caller, filter, order, { limit })).items;
const namesOf = async (...asked: Parameters<typeof pageOf>) =>
  (await pageOf(...asked)).map(({ name }) => printName(name));

test('finds a domain only by parts of its name, as labels or in Unicode', async () => {
  const names = ['a.test.', 'shop.test.', 'my-shop.test.', 'x%y_z.test.', 'sho.p.test.'];
  for (const name of names) await newDomain(db, me.accountId, name);
  await newDomain(db, me.accountId, 'xn--mnchen-3ya.test.', { unicode: 'münchen.test' });
  await newDomain(db, await newAccount(db, 'they@example.org'), 'workshop.test.');
  const cases: [string, string[]][] = [
    ['shop', ['my-shop.test.', 'shop.test.']],
    ['SHOP.T', ['my-shop.test.', 'shop.test.']],
    ['sho', ['my-shop.test.', 'sho.p.test.', 'shop.test.']],
    ['p', ['my-shop.test.', 'sho.p.test.', 'shop.test.']],
    ['y-', ['my-shop.test.']],
    ['%', ['x\\%y_z.test.']],
    ['mün', ['xn--mnchen-3ya.test.']],
    ['Ü', ['xn--mnchen-3ya.test.']],
    ['xn--mn', ['xn--mnchen-3ya.test.']],
    ['shotest', []], // the parts of three letters may match, but not the whole
    ['#1', []],
    ['a.test.b', []],
  ];
  for (const [search, found] of cases) {
    for (const sort of DOMAIN_SORTS) {
      const order = { sort, descending: false };
      expect([search, sort, (await namesOf(me, { search }, order)).sort()]).toEqual([search, sort, found]);
    }
    expect(await countDomains(db, me, { search })).toBe(found.length);
  }
  expect(await namesOf(admin, { search: 'shop' })).toEqual(['my-shop.test.', 'shop.test.', 'workshop.test.']);
  expect(await namesOf(admin, { search: 'shop', accountId: me.accountId })).toHaveLength(2);
});

const shown = async (caller: typeof me) => {
  const byCode = new Map<string, string[]>();
  for (const { name, findings } of await pageOf(caller, {}))
    for (const code of new Set(findings.map(({ code }) => code)))
      byCode.set(code, [...(byCode.get(code) ?? []), printName(name)]);
  return byCode;
};

test('finds a domain by each finding that it shows, and by no other', async () => {
  const they = { accountId: await newAccount(db, 'others@example.org'), isAdmin: false };
  const make = async (name: string, columns: string, whose = me.accountId) => {
    const { id } = await newDomain(db, whose, name, { transfer: true });
    await query`update domains set ${sql.raw(columns)} where id = ${id}`;
    return id;
  };
  const stored = (...codes: string[]) =>
    `findings = '${JSON.stringify(codes.map((code) => ({ code, message: code })))}'`;
  await make('foreign.test.', stored('NS_FOREIGN', 'STALE_DS'));
  await make('foreign.other.', stored('NS_FOREIGN'), they.accountId);
  await make('gone.test.', `${stored('NS_FOREIGN')}, deleted_at = now(), zone_id = null, served = 'none'`);
  // contested by TXT
  for (const [name, accountId] of [
    ['txt.test.', me.accountId],
    ['txt.test.', they.accountId],
  ] as const) {
    const { id } = await newDomain(db, accountId, name, { dnsMode: 'external', transfer: true });
    const columns = accountId === me.accountId ? `status = 'active'` : stored('TAKEOVER_WAITS');
    await query`update domains set ${sql.raw(columns)} where id = ${id}`;
  }
  // two domains with checks of their own zones: one saw the present delegation, the other an older one
  for (const [name, ns] of [
    ['child.test.', 'a.'],
    ['old.test.', 'b.'],
  ] as const) {
    const id = await make(name, `status = 'active'`);
    await query`update domain_checks set current_ns = '{a.}', conclusive_ours = true where domain_id = ${id}`;
    const findings = JSON.stringify([
      { code: 'GLUE_MISSING', place: 'registrar', message: 'x' },
      { code: 'EDNS_BROKEN', place: 'zone', message: 'x' },
    ]);
    await query`insert into child_checks (domain_id, wanted_ns, ns, findings)
          values (${id}, ${[ns]}::text[], ${[ns]}::text[], ${findings}::jsonb)`;
  }
  // two claims of one name, which are offered a TXT record
  const waiting = [];
  for (const accountId of [me.accountId, they.accountId])
    waiting.push([await make('wait.test.', `status = 'pending'`, accountId), accountId]);
  for (const [id, accountId] of waiting)
    await query`insert into domain_verifications (domain_id, account_id, value, started_at, expires_at, offered)
          values (${id}, ${accountId}, 'svc-verify=1', now(), now() + interval '1 day', true)
          on conflict (domain_id) do update set offered = true`;
  for (const caller of [me, they, admin]) {
    const byCode = await shown(caller);
    for (const finding of SOUGHT_FINDINGS) {
      const found = byCode.get(finding) ?? [];
      expect([finding, await namesOf(caller, { finding })]).toEqual([finding, found]);
      expect(await countDomains(db, caller, { finding })).toBe(found.length);
    }
    for (const code of byCode.keys())
      if (code !== 'NS_TURN' && code !== 'APEX_ONLY') expect(SOUGHT_FINDINGS).toContain(code);
  }
  const mine = await shown(me);
  for (const code of ['NS_FOREIGN', 'STALE_DS', 'TAKEOVER_SEEN', 'GLUE_MISSING', 'PREPARE'])
    expect([code, mine.get(code)?.length]).toEqual([code, 1]);
  expect(await namesOf(me, { finding: 'NS_FOREIGN', search: 'eig', statuses: ['disabled'] })).toEqual([]);
});

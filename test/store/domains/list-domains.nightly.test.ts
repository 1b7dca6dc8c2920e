// Query plans of lists of very many domains: how much Postgres reads for a page.

import type { KyselyPlugin, OperationNode } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import {
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains,
} from '../../../src/store/domains/list-domains.ts';
import type { Page } from '../../../src/store/postgres/list-page.ts';
import { newAccount } from '../../support/database/domains.ts';
import { makeManyDomains } from '../../support/database/many-domains.ts';
import { scale } from '../../support/tests/scale.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

/** Remembers the last statement, to explain it. */
class Asked implements KyselyPlugin {
  #statement: OperationNode | undefined;

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => {
    this.#statement = node;
    return node;
  };

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;

  get last() {
    const statement = this.#statement;
    if (statement === undefined) throw new Error('nothing was asked');
    return { toOperationNode: () => statement };
  }
}

const COUNT = scale(300_000, 12_000);

const { db, query } = sharedDatabase();
let caller: { accountId: number; isAdmin: boolean };
const admin = { accountId: 4711, isAdmin: true };

beforeEach(async () => {
  caller = { accountId: await newAccount(db, 'many@example.org'), isAdmin: false };
});

interface List {
  readonly filter?: DomainFilter;
  readonly order: DomainOrder;
  readonly page: Page;
}

/** Loads a page, and then the plan of its statement with the blocks that Postgres read. */
async function explained(by: typeof caller, { filter = {}, order, page }: List) {
  const asked = new Asked();
  const listed = await listDomains(db.withPlugin(asked), by, filter, order, page);
  const rows = await query<{ 'QUERY PLAN': string }>`
      explain (analyze, buffers, timing off, summary off) ${asked.last}`;
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  const read = [...plan.matchAll(/actual rows=([\d.]+) loops=(\d+)/g)].map(
    ([, rows, loops]) => +rows! * +loops!,
  );
  const removed = [...plan.matchAll(/Rows Removed by \w+(?: \w+)?: (\d+)/g)].map(([, rows]) => +rows!);
  const [, hit = 0, missed = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  return { listed, plan, rows: Math.max(...read), removed: Math.max(0, ...removed), blocks: +hit + +missed };
}

test('the order by next check uses its index, even if half of the domains are not checked and half are deleted', async () => {
  await query`
      with made as (
        insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation, created_at,
          updated_at, deleted_at)
        select ${caller.accountId}, 'n' || i || '.many.', 'n' || i || '.many', 'managed', 'disabled', 'none', 1, 1, now(), now(),
          case when i % 2 = 0 then now() end
        from generate_series(1, 8000) i returning *)
      insert into domain_checks (domain_id, account_id, deleted, parent, next_at)
      select id, account_id, deleted_at is not null, 'many.',
        case when id % 4 = 1 then now() + make_interval(secs => id) end
      from made`;
  await query`analyze domains, domain_checks`;
  for (const [by, index] of [
    [caller, 'domain_checks_list_account'],
    [admin, 'domain_checks_list_all'],
  ] as const)
    for (const descending of [false, true]) {
      const order = { sort: 'next_check_at', descending } as const;
      let cursor: string | undefined;
      for (let page = 0; page < 3; page++) {
        const wanted = { limit: 20, ...(cursor !== undefined && { cursor }) };
        const { listed, plan, rows } = await explained(by, {
          filter: { role: 'owner' },
          order,
          page: wanted,
        });
        ({ cursor } = listed);
        expect(plan).toMatch(new RegExp(`Index (Only )?Scan (Backward )?using ${index} `));
        expect(plan).not.toMatch(/Seq Scan on domains?(_checks)? |Bitmap/);
        expect(rows).toBeLessThanOrEqual(21);
      }
    }
});

test('a search and a finding read few blocks, for few matches and for many', async () => {
  await makeManyDomains(db, caller.accountId, COUNT);
  await query`
      update domains set findings = '[{"code": "STALE_DS", "message": "x"}]'
      where account_id = ${caller.accountId} and name like 'n77__.%'`;
  await query`
      update domains set findings = '[{"code": "NOT_DELEGATED", "message": "x"}]'
      where account_id = ${caller.accountId} and id % 3 = 0`;
  await query`vacuum analyze domains, domain_checks, memberships, accounts, records, aname_targets`;
  const rare: DomainFilter[] = [
    { search: 'n11111' },
    { search: '@' },
    { search: 'qz' },
    { search: 'nothing like it' },
    { search: 'many.n' },
    { finding: 'STALE_DS' },
    { finding: 'GLUE_MISSING' },
    { finding: 'ANAME_LOOP' },
    { finding: 'PREPARE' },
    { finding: 'TAKEOVER_SEEN' },
  ];
  const common: DomainFilter[] = [
    { search: 'many' },
    { search: 'n' },
    { search: '1' },
    { search: '7.m' },
    { finding: 'NOT_DELEGATED' },
    { finding: 'NOT_DELEGATED', search: '5' },
    { search: '1.many.', finding: 'STALE_DS' },
  ];
  for (const [filters, most] of [
    [rare, 2000],
    [common, 12_500],
  ] as const)
    for (const filter of filters)
      for (const sort of DOMAIN_SORTS) {
        const order = { sort, descending: false };
        const { blocks } = await explained(caller, { filter, order, page: { limit: 50 } });
        expect.soft([filter, sort, blocks <= most ? 'few' : blocks]).toEqual([filter, sort, 'few']);
      }
});

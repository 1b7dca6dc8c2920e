// Since when the parent names our servers follows from the domain's log of checks.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { loadDelegation } from '../../../src/store/dnssec/load-delegation.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const database = sharedDatabase();
let domainId: number;
let madeAt: number;

beforeEach(async () => {
  const domain = await newDomain(database.db, await newAccount(database.db, 'a@example.org'));
  domainId = domain.id;
  madeAt = domain.createdAt.getTime();
});

/** One run of the log, `after` milliseconds after the domain was made. */
async function run(verdict: string, after: number, ttls: readonly (number | undefined)[] = [3600]) {
  const at = new Date(madeAt + after);
  const evidence = JSON.stringify({ servers: ttls.map((ttl) => ({ ttl })) });
  await sql`
    insert into check_runs (domain_id, kind, started_at, finished_at, last_seen_at, verdict, findings, status_before,
      status_after, queries, evidence)
    values (${domainId}, 'background', ${at}, ${at}, ${at}, ${verdict}, '[]', 'active', 'active', 3, ${evidence})`.execute(
    database.db,
  );
}
const delegation = () => loadDelegation(database.db, domainId);

test('a domain that was never checked, and one whose parent names others, is not delegated to us', async () => {
  expect(await delegation()).toEqual({ kind: 'not_ours' });
  await run('match', MINUTE_MS);
  await run('foreign', DAY_MS);
  const elsewhere = { kind: 'not_ours', elsewhereSince: madeAt + DAY_MS };
  expect(await delegation()).toEqual(elsewhere);
  await run('unknown', 2 * DAY_MS);
  await run('not_delegated', 3 * DAY_MS);
  expect(await delegation()).toEqual(elsewhere);
  await run('mixed', 4 * DAY_MS);
  expect(await delegation()).toEqual({ kind: 'not_ours' });
});

test('it is ours since the first match after the last check that saw others, with the largest TTL that was seen', async () => {
  await run('foreign', MINUTE_MS);
  await run('match', DAY_MS, [300, 7200, undefined]);
  await run('unknown', 2 * DAY_MS);
  await run('match', 3 * DAY_MS, [300, 7200, undefined]);
  const since = madeAt + DAY_MS;
  expect(await delegation()).toEqual({ kind: 'ours', since, ttl: 7200, isFirst: false });
  await run('extra', 4 * DAY_MS);
  await run('match', 5 * DAY_MS, []);
  expect(await delegation()).toEqual({
    kind: 'ours',
    since: madeAt + 5 * DAY_MS,
    ttl: 172_800,
    isFirst: false,
  });
});

test.each([
  [
    'was not delegated when it came here',
    [
      ['unregistered', MINUTE_MS],
      ['not_delegated', DAY_MS],
    ],
    true,
  ],
  [
    'was delegated elsewhere once',
    [
      ['unregistered', MINUTE_MS],
      ['foreign', DAY_MS],
    ],
    false,
  ],
  ['was checked for the first time days later', [['unregistered', 2 * DAY_MS]], false],
  ['was delegated to us from the first check on', [], false],
] as const)('servers of before may be asked unless the domain was new: it %s', async (_, runs, isFirst) => {
  for (const [verdict, after] of runs) await run(verdict, after);
  await run('match', 9 * DAY_MS);
  expect(await delegation()).toEqual({ kind: 'ours', since: madeAt + 9 * DAY_MS, ttl: 3600, isFirst });
});

// That writers of a domain, of its checks and of its verification never wait for each other in a circle.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { claimDueDomains } from '../../../src/store/checks/claim-due-domains.ts';
import { gatherChecks } from '../../../src/store/checks/gather-checks.ts';
import { takeManualCheck } from '../../../src/store/checks/take-manual-check.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { claimDueVerifications } from '../../../src/store/verifications/claim-due-verifications.ts';
import { BY, expectPublished, newAccount, newDomain } from '../../support/database/domains.ts';
import { judgedCheck } from '../../support/database/saved-checks.ts';
import { scale } from '../../support/tests/scale.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { makeVerification } from '../../support/world/made-verifications.ts';
import { edit } from '../../support/zone/customer-records.ts';

const ROUNDS = scale(12, 3);
const OURS = 'referral ns1.example.net ns2.example.net';

const { db, url, query } = keptDatabase();
/** Its connections end before the deadlocks are counted: only then all of them have told theirs. */
let working: Database;
let ids: number[];
const apexOf = new Map<number, Name>();

beforeEach(async () => {
  working = openDatabase(url);
  const accountId = await newAccount(db, 'me@example.org');
  ids = [];
  apexOf.clear();
  accounts.clear();
  for (let i = 0; i < 5; i++) {
    const { id, name } = await newDomain(db, accountId, `d${i}.test.`, { exempt: true });
    ids.push(id);
    apexOf.set(id, name);
  }
  // Other accounts wait for some of the names.
  for (const name of ['d0.test.', 'd1.test.', 'd2.test.']) {
    for (const email of ['b', 'c']) {
      const rival = await accountOf(`${email}@example.org`);
      const { id } = await newDomain(db, rival, name, { exempt: email === 'b' });
      ids.push(id);
      apexOf.set(id, parseName(name));
    }
  }
});
afterEach(async () => {
  await working.destroy();
});

const accounts = new Map<string, number>();
const accountOf = async (email: string) => {
  const known = accounts.get(email) ?? (await newAccount(db, email));
  accounts.set(email, known);
  return known;
};

test('all of them at once on the same domains: no deadlock, and what is published is right', async () => {
  const each = async (work: (id: number, round: number) => Promise<unknown>): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) await Promise.all(ids.map((id) => work(id, round)));
  };
  // The domain may be in external mode, or switched off, by then.
  const checked = async (save: ReturnType<typeof gatherChecks>, id: number, said: string) => {
    const order = await judgedCheck(working, id, said).catch(() => undefined);
    if (order !== undefined) await save(order);
  };
  const [one, two] = [gatherChecks(working), gatherChecks(working)];
  const writers = [
    each((id, round) => checked(one, id, round % 2 === 0 ? OURS : 'nxdomain')),
    each((id, round) => checked(two, id, round % 3 === 0 ? 'timeout' : OURS)),
    each((id, round) =>
      saveEdit(working, {
        ...BY,
        domainId: id,
        edit: edit({ create: [`n${round} TXT x`] }, apexOf.get(id) as Name),
      }),
    ),
    each(async (id, round) => {
      if (id % 2 === 0)
        await changeStatus(working, {
          ...BY,
          domainId: id,
          event: round % 2 === 0 ? 'disable' : 'enable',
          exempt: true,
        });
    }),
    each(async (id, round) => {
      if (id % 2 === 1)
        await updateDomain(working, {
          ...BY,
          domainId: id,
          set: { dnsMode: round % 2 === 0 ? 'external' : 'managed' },
        });
    }),
    each((id) => makeVerification(working, { domainId: id }, () => ({ servers: ['nxdomain', 'nodata'] }))),
    each(() => claimDueDomains(working, { limit: 100, perParent: 100, after: undefined, leaseSeconds: 0 })),
    each(() => claimDueVerifications(working, { limit: 100 })),
    each((id) => takeManualCheck(working, id)),
  ];
  const ended = (await Promise.allSettled(writers)).flatMap((result) =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  await working.destroy();
  expect(ended).toEqual([]);
  expect(
    await query<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`,
  ).toEqual([{ deadlocks: 0 }]); // a save that Postgres ends is made again, and nobody is told
  await expectPublished(db, ...ids);
});

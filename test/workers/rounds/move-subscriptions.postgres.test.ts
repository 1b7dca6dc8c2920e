import { expect, it } from 'vitest';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { runSubscriptions } from '../../../workers/rounds/move-subscriptions.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

it('rounds bring a subscription from its end to free, and tell what they did', async () => {
  const { db } = database;
  const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
  const plan = await addTerm(db, 'pro', { days: 30, priceRials: 500 });
  await setPlan(db, { domainId: id, planSlug: 'pro', termId: plan?.terms.at(-1)?.id as number });
  const [own] = await listSubscriptions(db, id);
  const end = own?.expiresAt as Date;
  const troubles: unknown[] = [];
  const told: object[] = [];
  await new Promise<void>((resolve) => {
    const rounds = runSubscriptions({
      db,
      charging: { maxNegativeRials: 0 },
      clock: async () => new Date(end.getTime() + 8 * 86_400_000),
      idleMs: 10,
      onMoved: (moved) => {
        told.push(moved);
        void rounds.stop().then(resolve);
      },
      onFailed: (_, error) => troubles.push(error),
      onTrouble: (error) => troubles.push(error),
    });
  });
  expect(told).toEqual([{ renewed: 0, unpaid: 1, grace: 1, ended: 1, failed: 0 }]);
  expect(troubles).toEqual([]);
  expect((await listSubscriptions(db, id))[0]?.plan.slug).toBe('free');
});

it('nothing ends by the clock of Postgres that is not over', async () => {
  const { db } = database;
  const { id } = await newDomain(db, await newAccount(db, 'b@example.org'), 'b.test.', { planSlug: 'free' });
  const before = await listSubscriptions(db, id);
  const troubles: unknown[] = [];
  const rounds = runSubscriptions({
    db,
    charging: { maxNegativeRials: 0 },
    onMoved: () => {},
    onFailed: (_, error) => troubles.push(error),
    onTrouble: (error) => troubles.push(error),
  });
  await rounds.stop();
  expect([await listSubscriptions(db, id), troubles]).toEqual([before, []]);
});

import { expect, it } from 'vitest';
import type { Analytics } from '../../../src/analytics/open-analytics.ts';
import { watchAnalytics } from '../../../workers/rounds/watch-analytics.ts';
import { until } from '../../support/tests/until.ts';

it('the analytics watch reports each status change once, and an initial outage only if it lasts', async () => {
  let isAway = true;
  let asked = 0;
  const query = async () => {
    asked++;
    if (isAway) throw new Error('away');
    return [];
  };
  const told: string[] = [];
  const analytics = { query } as unknown as Analytics;
  const watch = watchAnalytics(analytics, (fault) => told.push(fault?.message ?? 'answers'), 1);
  expect(watch.answers()).toBe(undefined);
  const rounds = async (count: number) => {
    const from = asked;
    await until(() => asked >= from + count);
  };
  await rounds(3);
  expect([watch.answers(), told]).toEqual([false, []]);
  isAway = false;
  await rounds(3);
  expect([watch.answers(), told]).toEqual([true, ['answers']]);
  isAway = true;
  await rounds(3);
  expect([watch.answers(), told]).toEqual([false, ['answers', 'away']]);
  await rounds(20);
  expect(told).toEqual(['answers', 'away']);
  await watch.stop();

  const late: string[] = [];
  const another = watchAnalytics(analytics, (fault) => late.push(fault?.message ?? 'answers'), 1);
  await rounds(30);
  expect(late).toEqual(['away']);
  await another.stop();
});

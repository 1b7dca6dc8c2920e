import { expect, it } from 'vitest';
import { bodyBounds, judgeItems, SMALL_BODY_BYTES } from '../../../src/api/body/body-bounds.ts';
import { ROUTES } from '../../../src/features/every-route.ts';

const MIB = 2 ** 20;
const IMPORT = { largeBody: true, maxItems: 100_000 } as const;
const FREE = { maxRecords: 200 };
const PRO = { maxRecords: null };

it('a route without large bodies accepts 1 MiB, whatever the plan', () => {
  for (const plan of [null, FREE, PRO]) expect(bodyBounds({}, plan).bytes).toBe(SMALL_BODY_BYTES);
});

it('a route for many records accepts as much as the plan of the domain can use', () => {
  expect(bodyBounds(IMPORT, PRO)).toMatchObject({ bytes: 32 * MIB, items: 100_000, byPlan: false });
  expect(bodyBounds(IMPORT, FREE)).toMatchObject({ bytes: 4 * MIB, items: 2000, byPlan: true });
  expect(bodyBounds(IMPORT, null)).toMatchObject({ bytes: 4 * MIB, items: 1000, byPlan: true });
  expect(bodyBounds(IMPORT, { maxRecords: 1000 })).toMatchObject({ bytes: 16_384_000, items: 10_000 });
});

it('more items than the plan allows are refused with plan_limit and the number', () => {
  expect(judgeItems(2000, IMPORT, FREE)).toBeUndefined();
  expect(judgeItems(2001, IMPORT, FREE)?.body).toMatchObject({ code: 'plan_limit', limit: 2000 });
  expect(judgeItems(100_000, IMPORT, PRO)).toBeUndefined();
});

it('every route with large bodies declares its maximum number of items, or accepts a text', () => {
  const silent = ROUTES.filter(({ largeBody, maxItems, textBody }) => largeBody && !maxItems && !textBody);
  expect(silent.map(({ operationId }) => operationId)).toEqual([]);
});

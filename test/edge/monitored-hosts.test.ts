import { expect, it } from 'vitest';
import { isMonitored, recordNamesFor } from '../../src/edge/monitored-hosts.ts';

it('a host uses its own record, or else the closest wildcard', () => {
  expect(recordNamesFor('a.b.shop.test', 'shop.test')).toEqual([
    'a.b.shop.test',
    '*.b.shop.test',
    '*.shop.test',
  ]);
  expect(recordNamesFor('shop.test', 'shop.test')).toEqual(['shop.test']);
  expect(recordNamesFor('workshop.test', 'shop.test')).toEqual([]);
  const monitored = new Map([
    ['*.shop.test', true],
    ['www.shop.test', false],
    ['*.api.shop.test', false],
  ]);
  const is = (host: string) => isMonitored(host, 'shop.test', monitored);
  expect(['x.shop.test', 'www.shop.test', 'v1.api.shop.test', 'shop.test', 'x.y.shop.test'].map(is)).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
});

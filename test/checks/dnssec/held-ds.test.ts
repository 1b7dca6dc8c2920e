// What Postgres holds of a parent zone is evidence like an answer of its servers.

import { expect, it } from 'vitest';
import { heldDs } from '../../../src/checks/dnssec/held-ds.ts';
import { parseName } from '../../../src/dns/name.ts';

const DOMAIN = parseName('shop.example.');
const HELD = {
  zone: parseName('example.'),
  cut: DOMAIN,
  ns: [parseName('ns1.example.net.')],
  ds: [] as Uint8Array[],
  glue: [],
  ttl: 300,
  exists: true,
  alias: false,
};
const SERVED = { isServed: true, observedAt: 5 };

it('a parent zone that we hold shows the DS records that stand at the delegation', () => {
  const ds = [Uint8Array.of(0, 1, 13, 2, 7)];
  const { parent, answers } = heldDs(DOMAIN, { ...HELD, ds }, SERVED);
  expect(parent).toBe(HELD.zone);
  expect(answers).toMatchObject([{ address: '', outcome: 'positive', ds, ttl: 86_400 }]);
});

it('without DS records there it shows none', () => {
  expect(heldDs(DOMAIN, HELD, SERVED).answers).toMatchObject([{ outcome: 'none', ds: [] }]);
});

it('as long as a node serves what was there before, nothing is known', () => {
  for (const ds of [[], [Uint8Array.of(0, 1, 13, 2, 7)]]) {
    const { answers } = heldDs(DOMAIN, { ...HELD, ds }, { ...SERVED, isServed: false });
    expect(answers).toMatchObject([{ outcome: 'unknown', ds: [], ttl: undefined }]);
  }
});

// Some domains for 400 days; ten thousand are a proof (`npm run prove dnssec`).

import { expect, it } from 'vitest';
import { REAL } from '../support/simulation/dnssec/broken-machines.ts';
import { simulateKeys } from '../support/simulation/dnssec/simulate-keys.ts';

it('no domain is bogus by our doing, and every goal is reached whose registrar acts', () => {
  const { violations, unreached, reached } = simulateKeys(1, 8, REAL);
  expect([violations, unreached]).toEqual([[], []]);
  expect(reached).toBeGreaterThan(5);
});

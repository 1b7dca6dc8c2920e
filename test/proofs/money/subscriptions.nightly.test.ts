// Ten thousand random histories of subscriptions equal a model that is written from docs/rules.md "Plans".

import { expect, it } from 'vitest';
import { firstDifference } from '../../support/billing/play-history.ts';
import { scale } from '../../support/tests/scale.ts';

it('ten thousand random histories by the rules equal the model', () => {
  expect(firstDifference(scale(100_000, 10_000))).toBeUndefined();
});

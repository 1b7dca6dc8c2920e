// What is told of each reason.

import { expect, it } from 'vitest';
import { isReason, REASONS } from '../../src/edge/requests/reasons.ts';

it('every reason has words, and a status that tells of a failure', () => {
  for (const [reason, { label, meaning, status }] of Object.entries(REASONS)) {
    expect(reason).toMatch(/^[a-z_]+$/);
    expect([reason, label.length > 4, meaning.endsWith('.'), status >= 400]).toEqual([
      reason,
      true,
      true,
      true,
    ]);
  }
});

it('no other text is one', () => {
  for (const text of ['', 'toString', '__proto__', 'ORIGIN_TIMEOUT'])
    expect([text, isReason(text)]).toEqual([text, false]);
});

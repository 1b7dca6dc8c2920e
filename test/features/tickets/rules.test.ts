import { expect, it } from 'vitest';
import { judgeMessage } from '../../../src/features/tickets/rules.ts';

it.each([
  ['open', 1, 'account', 'open'],
  ['open', 1, 'staff', 'answered'],
  ['answered', 199, 'account', 'open'],
  ['answered', 199, 'staff', 'answered'],
  ['answered', 200, 'account', undefined],
  ['open', 200, 'staff', undefined],
  ['closed', 1, 'account', undefined],
  ['closed', 1, 'staff', undefined],
] as const)('for a ticket that is %s and has %i messages, decides the status after a message by %s', (status, messages, by, then) => {
  const judged = judgeMessage({ status, messages }, by);
  expect(judged.kind === 'written' ? judged.status : undefined).toBe(then);
});

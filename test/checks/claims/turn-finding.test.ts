import { expect, it } from 'vitest';
import { turnFinding } from '../../../src/checks/claims/turn-finding.ts';

const FROM = Date.parse('2026-11-23T14:05:00Z');
const turn = { from: FROM, until: FROM + 15 * 60_000 };

it('while the turn lasts its times are told, also to a claim that is in line for another one', () => {
  for (const hasAsked of [false, true])
    expect(turnFinding({ turn, hasAsked }, FROM).message).toContain('from 14:05 to 14:20 UTC');
});

it('before and after it a claim reads whether it is in line', () => {
  expect(turnFinding({ turn: undefined, hasAsked: true }, FROM).message).toContain('are in line');
  expect(turnFinding({ turn, hasAsked: true }, turn.until).message).toContain('are in line');
  const none = turnFinding({ turn, hasAsked: false }, turn.until).message;
  expect(none).not.toContain('14:05');
  expect(none).toContain('ask for a turn');
});

it('it tells of another account, and neither who nor how many', () => {
  for (const hasAsked of [false, true])
    expect(turnFinding({ turn: undefined, hasAsked }, FROM).message).toMatch(/Another account waits/);
});

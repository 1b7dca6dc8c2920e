import { expect, it } from 'vitest';
import { AUDIT_GROUPS, dayStart } from '../../../../../console/src/screens/operator/desk/audit-query.ts';
import { ACTION_NAMES } from '../../../../../src/store/audit/audit-actions.ts';

it('has every action of the log in one group', () => {
  expect(Object.values(AUDIT_GROUPS).flat().sort()).toEqual([...ACTION_NAMES].sort());
});

it('begins a day in UTC, and the day after over the end of a month', () => {
  expect(dayStart('2026-11-28')).toBe('2026-11-28T00:00:00.000Z');
  expect(dayStart('2026-11-30', 1)).toBe('2026-12-01T00:00:00.000Z');
});

it('takes no day from what is none', () => {
  for (const text of [undefined, '', '2026', '2026-13-01', '28.11.2026', '2026-11-28T10:00:00Z'])
    expect(dayStart(text)).toBeUndefined();
});

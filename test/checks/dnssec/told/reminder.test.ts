import { describe, expect, it, test } from 'vitest';
import { DAY_MS } from '../../../../src/checks/dnssec/rules.ts';
import { isReminderDue, ownersDuty } from '../../../../src/checks/dnssec/told/reminder.ts';

const finding = (
  code: 'DS_WANTED' | 'DS_OTHER' | 'DS_PARTIAL' | 'PARENT_UNSIGNED' | 'DNSSEC_STEP_WAITS' | 'DS_WEAK',
  severity: 'info' | 'warning' | 'error' = 'info',
) => ({ code, severity, message: `about ${code}` });

describe('what an owner has to do', () => {
  it('is nothing while only we, the registry or caches have', () => {
    expect(ownersDuty([])).toBeUndefined();
    const others = [
      finding('DS_PARTIAL'),
      finding('PARENT_UNSIGNED'),
      finding('DNSSEC_STEP_WAITS', 'warning'),
    ];
    expect(ownersDuty(others)).toBeUndefined();
  });

  it('is told with what keeps resolvers out first', () => {
    const duty = ownersDuty([finding('DS_WANTED'), finding('DS_PARTIAL'), finding('DS_OTHER', 'error')]);
    expect(duty).toEqual({ message: 'about DS_OTHER\n\nabout DS_WANTED', isUrgent: true });
    expect(ownersDuty([finding('DS_WEAK', 'warning')])).toMatchObject({ isUrgent: false });
  });

  it('is told in three sentences at most', () => {
    const many = Array.from({ length: 9 }, () => finding('DS_WANTED'));
    expect(ownersDuty(many)?.message.split('\n\n')).toHaveLength(3);
  });
});

const now = 1000 * DAY_MS;
test.each([
  ['wanted for two days', false, 2, undefined, false],
  ['wanted for three days', false, 3, undefined, true],
  ['urgent, for an hour', true, 1 / 24, undefined, false],
  ['urgent, for a day', true, 1, undefined, true],
  ['reminded 29 days ago', false, 60, 29, false],
  ['reminded 30 days ago', false, 60, 30, true],
  ['urgent, and reminded yesterday', true, 60, 1, false],
] as const)('%s: a mail is due: %s %d %s → %s', (_, isUrgent, wantedDays, remindedDays, isDue) => {
  const remindedAt = remindedDays === undefined ? undefined : now - remindedDays * DAY_MS;
  expect(isReminderDue({ isUrgent }, { wantedSince: now - wantedDays * DAY_MS, remindedAt }, now)).toBe(
    isDue,
  );
});

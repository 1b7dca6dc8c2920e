import { describe, expect, it } from 'vitest';
import { isRecentlyAuthenticated, isSessionValid, sessionEndsAt } from '../../../src/api/people/sessions.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number) => new Date(START + ms);
const times = (createdMs: number, usedMs: number) => ({
  createdAt: at(createdMs),
  usedAt: at(usedMs),
  authenticatedAt: null,
});
const CUSTOMER = { isAdmin: false };
const ADMIN = { isAdmin: true };

describe('a session', () => {
  it.each([
    ['of a customer, unused for a second less than 30 days', CUSTOMER, times(0, 0), 30 * DAY - 1000, true],
    ['of a customer, unused for 30 days', CUSTOMER, times(0, 0), 30 * DAY, false],
    ['used regularly, before 90 days', CUSTOMER, times(0, 89 * DAY), 90 * DAY - 1000, true],
    ['used regularly, after 90 days', CUSTOMER, times(0, 89 * DAY), 90 * DAY, false],
    ['of an admin, unused for nearly 12 hours', ADMIN, times(0, 0), 12 * HOUR - 1000, true],
    ['of an admin, unused for 12 hours', ADMIN, times(0, 0), 12 * HOUR, false],
    ['when the clock was set back by a minute', CUSTOMER, times(0, 0), -60_000, true],
    ['opened a day in the future: the clock was set back', CUSTOMER, times(DAY, DAY), 0, false],
    ['used a day in the future: the clock was set back', CUSTOMER, times(0, DAY), 0, false],
  ])('%s', (_name, rights, session, nowMs, isValid) => {
    expect(isSessionValid(session, rights, at(nowMs))).toBe(isValid);
  });

  it('ends because of its age or because it is unused, whichever comes first', () => {
    expect(sessionEndsAt(times(0, 0), CUSTOMER)).toEqual(at(30 * DAY));
    expect(sessionEndsAt(times(0, 80 * DAY), CUSTOMER)).toEqual(at(90 * DAY));
    expect(sessionEndsAt(times(0, 0), ADMIN)).toEqual(at(12 * HOUR));
  });
});

describe('an authentication', () => {
  it.each([
    ['that never happened is not recent', null, 0, false],
    ['14 minutes ago is recent', 0, 14 * 60_000, true],
    ['15 minutes ago is not recent', 0, 15 * 60_000, false],
    ['a day in the future is not recent, because the clock was set back', DAY, 0, false],
  ])('%s', (_name, givenMs, nowMs, isFresh) => {
    const session = { ...times(0, 0), authenticatedAt: givenMs === null ? null : at(givenMs) };
    expect(isRecentlyAuthenticated(session, at(nowMs))).toBe(isFresh);
  });
});

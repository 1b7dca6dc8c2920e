// How often a machine is looked at, and what is asked then.

import { describe, expect, it } from 'vitest';
import { enable, newMachine } from '../../../src/checks/dnssec/goals.ts';
import type { Machine, Waiting } from '../../../src/checks/dnssec/machine.ts';
import { isDsDue, isPreflightDue, nextLookIn } from '../../../src/checks/dnssec/next-look.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AT = 1_700_000_000_000;

const KEY = { id: '1', role: 'csk', algorithm: 13, keyTag: 1, ds: ['1 13 2 AA'] } as const;
const NEW = enable(newMachine(AT, 300), [KEY]);
const SIGNED: Machine = {
  ...NEW,
  serving: { keys: ['1'], keySigners: ['1'], dataSigners: ['1'] },
  version: 7,
  servedAt: AT,
};
const asked = (askedAt: number) => ({ ...SIGNED.parent, askedAt, observedAt: askedAt });
const waiting = (cause: Waiting['cause'], rest: Partial<Waiting> = {}): Machine => ({
  ...SIGNED,
  waiting: { cause, since: AT, keys: [], ...rest },
});

const JUST_ASKED = { ...waiting('ds_wanted'), askedAt: AT };
const UNSIGNED = { ...newMachine(AT, 300), askedAt: AT };

describe('the next look', () => {
  it.each([
    ['after seconds while nodes lack a step', waiting('nodes'), AT, 5 * SECOND],
    ['after minutes while one lacks it for long', waiting('nodes'), AT + HOUR, 5 * MINUTE],
    ['when the caches have forgotten', waiting('caches', { until: AT + 2 * HOUR }), AT, 2 * HOUR + 1],
    ['no later than the parent is asked', waiting('caches', { until: AT + 2 * DAY }), AT, 6 * HOUR],
    ['every five minutes after a DS was asked for', JUST_ASKED, AT + HOUR, 5 * MINUTE],
    ['every hour days later', JUST_ASKED, AT + DAY, HOUR],
    ['every minute while answers do not verify', waiting('preflight'), AT, MINUTE],
    ['every twelve hours at rest', SIGNED, AT, 12 * HOUR],
    ['every hour after the zone was unsigned', UNSIGNED, AT + DAY, HOUR],
    ['every twelve hours once its keys are destroyed', UNSIGNED, AT + 60 * DAY, 12 * HOUR],
  ] as const)('comes %s', (_, machine, at, expected) => {
    expect(nextLookIn(machine, at)).toBe(expected);
  });
});

const WANTED = { ...waiting('ds_wanted', { since: AT + HOUR }), parent: asked(AT) };

describe('the parent is asked', () => {
  it.each([
    ['at once when it never was', SIGNED, AT, true],
    ['before the first signature', NEW, AT, true],
    ['not for a zone that was never signed', newMachine(AT, 300), AT, false],
    ['not again within twelve hours of rest', { ...SIGNED, parent: asked(AT) }, AT + 11 * HOUR, false],
    ['again after twelve hours of rest', { ...SIGNED, parent: asked(AT) }, AT + 12 * HOUR, true],
    ['when a step needs to know', { ...waiting('observation'), parent: asked(AT) }, AT + 2 * HOUR, true],
    ['soon after a DS is wanted', WANTED, AT + HOUR, true],
  ] as const)('%s', (_, machine, at, expected) => {
    expect(isDsDue(machine, at)).toBe(expected);
  });
});

describe("the domain's own servers are asked", () => {
  const verified = { at: AT, verifiedBy: ['1'], hasStrangers: false };
  const cached = { ...waiting('caches', { until: AT + DAY }), preflight: verified };
  it.each([
    ['not before every node has the step', { ...SIGNED, servedAt: null }, AT, false],
    ['not for an unsigned zone', newMachine(AT, 300), AT, false],
    ['after every step', SIGNED, AT, true],
    ['not again when they were since', { ...SIGNED, preflight: verified }, AT + HOUR, false],
    ['again while they fail', { ...waiting('preflight'), preflight: verified }, AT + HOUR, true],
    ['again when the wait of a step is over', cached, AT + DAY, true],
    ['not while that wait lasts', cached, AT + HOUR, false],
  ] as const)('%s', (_, machine, at, expected) => {
    expect(isPreflightDue(machine, at, RULES)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import {
  anchorsToTrust,
  dsOf,
  type RolledAnchor,
  rollAnchors,
} from '../../../src/checks/validation/roll-anchors.ts';
import type { RootKeys } from '../../../src/checks/validation/root-keys.ts';
import { makeKey } from '../../support/dnssec/signing.ts';

const DAY = 86_400_000;
const [OLD, NEW, THIRD] = [makeKey(13).rdata, makeKey(13).rdata, makeKey(13).rdata];
const CONFIGURED = [dsOf(OLD)];

/** A day for each entry: what is seen then. Gives the states, `old valid, new pending`, of the last day. */
function roll(days: readonly Partial<RootKeys>[], configured = CONFIGURED) {
  let anchors: RolledAnchor[] = [];
  for (const [day, seen] of days.entries())
    anchors = rollAnchors(anchors, { present: undefined, revoked: [], ...seen }, configured, day * DAY);
  return anchors;
}
const NAMED = [
  ['old', OLD],
  ['new', NEW],
  ['third', THIRD],
] as const;
const nameOf = (octets: Uint8Array, of = (key: Uint8Array) => key) =>
  NAMED.find(([, key]) => Buffer.compare(of(key), octets) === 0)?.[0];
const states = (anchors: readonly RolledAnchor[]) =>
  anchors.map(({ key, state }) => `${nameOf(key)} ${state}`);
const trusted = (anchors: readonly RolledAnchor[], configured = CONFIGURED) =>
  anchorsToTrust(configured, anchors).map((ds) => nameOf(ds, dsOf));
const days = (count: number, seen: Partial<RootKeys>) => Array.from({ length: count }, () => seen);

describe('the roll of trust anchors', () => {
  it('begins with the keys that are configured', () => {
    const anchors = roll([{ present: [OLD, NEW] }]);
    expect(states(anchors)).toEqual(['old valid', 'new pending']);
    expect(trusted(anchors)).toEqual(['old']);
    expect(trusted([])).toEqual(['old']);
  });

  it('trusts a new key after 30 days in every set', () => {
    expect(states(roll(days(30, { present: [OLD, NEW] })))).toEqual(['old valid', 'new pending']);
    const anchors = roll(days(31, { present: [OLD, NEW] }));
    expect(states(anchors)).toEqual(['old valid', 'new valid']);
    expect(trusted(anchors)).toEqual(['old', 'new']);
  });

  it('begins again with a key that was away for a day', () => {
    const seen = [
      ...days(29, { present: [OLD, NEW] }),
      { present: [OLD] },
      ...days(29, { present: [OLD, NEW] }),
    ];
    expect(states(roll(seen))).toEqual(['old valid', 'new pending']);
  });

  it('learns nothing from sets that do not validate', () => {
    const seen = [{ present: [OLD, NEW] }, ...days(40, {})];
    expect(states(roll(seen))).toEqual(['old valid', 'new pending']);
    expect(states(roll([...seen, { present: [OLD, NEW] }]))).toEqual(['old valid', 'new valid']);
  });

  it('goes on trusting a key that is missing', () => {
    const anchors = roll([{ present: [OLD] }, { present: [NEW] }]);
    expect(states(anchors)).toEqual(['old missing', 'new pending']);
    expect(trusted(anchors)).toEqual(['old']);
    expect(states(roll([{ present: [OLD] }, { present: [] }, { present: [OLD] }]))).toEqual(['old valid']);
  });

  it('never again trusts a key that has revoked itself, though it is configured and comes back', () => {
    const rolled = [
      ...days(31, { present: [OLD, NEW] }),
      { present: [NEW], revoked: [OLD] },
      ...days(99, { present: [OLD, NEW] }),
    ];
    const anchors = roll(rolled);
    expect(states(anchors)).toEqual(['old revoked', 'new valid']);
    expect(trusted(anchors)).toEqual(['new']);
    expect(trusted(roll([{ revoked: [OLD] }]))).toEqual([]);
  });

  it('takes no notice of a revoked key that it does not know, and forgets one that was pending', () => {
    expect(states(roll([{ present: [OLD], revoked: [THIRD] }]))).toEqual(['old valid']);
    expect(states(roll([{ present: [OLD, NEW] }, { present: [OLD], revoked: [NEW] }]))).toEqual([
      'old valid',
    ]);
  });

  it('begins the 30 days again when the clock was set back', () => {
    const both = { present: [OLD, NEW], revoked: [] };
    const first = rollAnchors([], both, CONFIGURED, 100 * DAY);
    const back = rollAnchors(first, both, CONFIGURED, 10 * DAY);
    const onDay = (day: number) => states(rollAnchors(back, both, CONFIGURED, day * DAY))[1];
    expect([onDay(39), onDay(40)]).toEqual(['new pending', 'new valid']);
  });

  it('remembers 16 keys at most', () => {
    const many = Array.from({ length: 40 }, (_, i) => Uint8Array.of(1, 1, 3, 13, i));
    expect(rollAnchors([], { present: [OLD, ...many], revoked: [] }, CONFIGURED, 0)).toHaveLength(16);
  });
});

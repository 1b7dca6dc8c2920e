import { expect, it } from 'vitest';
import {
  isThere,
  nextTxtTakeover,
  sinceAfter,
  type TxtHolding,
} from '../../../src/checks/txt/txt-takeover.ts';
import { parseName } from '../../../src/dns/name.ts';
import { txtEvidenceOf } from '../../support/world/made-verifications.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1_800_000_000_000;
const holding = (more: Partial<TxtHolding> = {}): TxtHolding => ({
  since: undefined,
  takeovers: [],
  isFrozen: false,
  isHeld: false,
  ...more,
});
const FOUR = [1, 2, 3, 4];

it.each<[string, Partial<TxtHolding>, object]>([
  [
    "takes nothing while the holder's is there, too",
    { isHeld: true, since: NOW - HOUR },
    { kind: 'held', nextAt: NOW + HOUR },
  ],
  [
    'is a first one, and another comes ten minutes later',
    {},
    { kind: 'seen', since: NOW, nextAt: NOW + 10 * MINUTE },
  ],
  ['takes the name ten minutes after the first one', { since: NOW - 10 * MINUTE }, { kind: 'taken' }],
  ['takes it no sooner', { since: NOW - 10 * MINUTE + 1 }, { kind: 'seen', since: NOW - 10 * MINUTE + 1 }],
  [
    'waits while the breaker holds takeovers',
    { since: NOW - HOUR, isFrozen: true },
    { kind: 'seen', since: NOW - HOUR },
  ],
  [
    'waits if the name changed hands four times a day',
    { since: NOW - 6 * HOUR + 1, takeovers: FOUR },
    { kind: 'seen' },
  ],
  ['takes such a name after six hours', { since: NOW - 6 * HOUR, takeovers: FOUR }, { kind: 'taken' }],
  ['ignores a first one in the future', { since: NOW + HOUR }, { kind: 'seen', since: NOW }],
])("a look that finds the claim's value %s", (_, more, expected) => {
  expect(nextTxtTakeover(holding(more), NOW)).toMatchObject(expected);
});

it('a look that finds the value not everywhere begins anew; one that says nothing does not', () => {
  expect(sinceAfter(NOW, 'unknown')).toBe(NOW);
  for (const verdict of ['absent', 'other', 'partial', 'wildcard', 'disagree', 'untrusted'] as const)
    expect(sinceAfter(NOW, verdict)).toBeUndefined();
});

it('a value that any server has, in any reply, is there', () => {
  const host = parseName('_svc-challenge.example.com.');
  const evidence = txtEvidenceOf(host, { servers: [['a'], ['a', 'b'], 'timeout'] });
  expect(['a', 'b', 'c', 'A'].map((value) => isThere(evidence, value))).toEqual([true, true, false, false]);
  const [link] = evidence.links;
  const later = {
    ...evidence,
    links: link ? [{ ...link, again: [{ ...link.servers[0], values: [Buffer.from('c')] }] }] : [],
  };
  expect(isThere(later as typeof evidence, 'c')).toBe(true);
});

import { describe, expect, it } from 'vitest';
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
const next = (more: Partial<TxtHolding>) => nextTxtTakeover(holding(more), NOW);

describe('a look that finds the claim’s value', () => {
  it('takes nothing while the holder’s is there too, and begins anew then', () => {
    expect(next({ isHeld: true, since: NOW - HOUR })).toEqual({ kind: 'held', nextAt: NOW + HOUR });
  });

  it('is a first one, and another comes ten minutes later', () => {
    expect(next({})).toEqual({ kind: 'seen', since: NOW, nextAt: NOW + 10 * MINUTE });
  });

  it('takes the name ten minutes after the first one, and no sooner', () => {
    expect(next({ since: NOW - 10 * MINUTE })).toEqual({ kind: 'taken' });
    expect(next({ since: NOW - 10 * MINUTE + 1 })).toMatchObject({
      kind: 'seen',
      since: NOW - 10 * MINUTE + 1,
    });
  });

  it('waits while the breaker holds takeovers', () => {
    expect(next({ since: NOW - HOUR, isFrozen: true })).toMatchObject({ kind: 'seen', since: NOW - HOUR });
  });

  it('waits for six hours where the name changed hands four times a day', () => {
    const takeovers = [1, 2, 3, 4];
    expect(next({ since: NOW - 6 * HOUR + 1, takeovers })).toMatchObject({ kind: 'seen' });
    expect(next({ since: NOW - 6 * HOUR, takeovers })).toEqual({ kind: 'taken' });
  });

  it('does not count a first one that lies ahead: a clock went back', () => {
    expect(next({ since: NOW + HOUR })).toMatchObject({ kind: 'seen', since: NOW });
  });
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

import { describe, expect, it } from 'vitest';
import type { ZoneAddress } from '../../../src/resolver/state/known-zone.ts';
import { pickAddresses } from '../../../src/resolver/walk/pick-addresses.ts';
import { dice } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

/** `a 1.1.1.1 rtt=20 shunned`. */
function address(text: string): ZoneAddress {
  const [server = '', at = '', ...rest] = text.split(' ');
  const rtt = rest.find((word) => word.startsWith('rtt='));
  return {
    server: name(server),
    address: at,
    isIpv6: at.includes(':'),
    rttMs: rtt === undefined ? undefined : Number(rtt.slice(4)),
    misses: 0,
    shunnedUntil: rest.includes('shunned') ? 1 : 0,
  };
}

/** The sets that come out over many throws of the dice. */
function picks(candidates: readonly string[], count: number, asked: readonly string[] = []): string[] {
  const sets = new Set<string>();
  const random = dice(7);
  for (let i = 0; i < 200; i++) {
    const picked = pickAddresses(candidates.map(address), count, {
      now: 0,
      random,
      asked: asked.map(address),
    });
    sets.add(picked.map((each) => each.address).join(' '));
  }
  return [...sets].sort();
}

describe('addresses', () => {
  it('are of different nameservers', () => {
    expect(picks(['a 1.1.1.1', 'a 1.1.1.2', 'b 2.2.2.2'], 2)).toEqual([
      '1.1.1.1 2.2.2.2',
      '1.1.1.2 2.2.2.2',
      '2.2.2.2 1.1.1.1',
      '2.2.2.2 1.1.1.2',
    ]);
    expect(picks(['a 1.1.1.2', 'b 2.2.2.2'], 1, ['a 1.1.1.1'])).toEqual(['2.2.2.2']);
  });

  it('are of both families where that can be', () => {
    expect(picks(['a 1.1.1.1', 'a 2600::1', 'b 2.2.2.2', 'b 2600::2'], 2)).toEqual([
      '1.1.1.1 2600::2',
      '2.2.2.2 2600::1',
      '2600::1 2.2.2.2',
      '2600::2 1.1.1.1',
    ]);
  });

  it('are those that answer, though of one nameserver', () => {
    expect(picks(['a 1.1.1.1', 'a 1.1.1.2', 'b 2.2.2.2 shunned'], 2)).toEqual([
      '1.1.1.1 1.1.1.2',
      '1.1.1.2 1.1.1.1',
    ]);
  });

  it('are the others where there is nothing else', () => {
    expect(picks(['a 1.1.1.1', 'b 2.2.2.2 shunned'], 2)).toEqual(['1.1.1.1 2.2.2.2']);
    expect(picks(['b 2.2.2.2 shunned'], 2)).toEqual(['2.2.2.2']);
    expect(picks([], 2)).toEqual(['']);
  });

  it('are the fast ones, of which all are as good', () => {
    expect(picks(['a 1.1.1.1 rtt=10', 'b 2.2.2.2 rtt=200', 'c 3.3.3.3 rtt=250', 'd 4.4.4.4'], 1)).toEqual([
      '1.1.1.1',
      '2.2.2.2',
      '4.4.4.4',
    ]);
  });
});

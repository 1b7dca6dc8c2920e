import { describe, expect, it } from 'vitest';
import { areAsked, inForce, type Vantage, voicesOf } from '../../../src/checks/vantage/voices.ts';

const vantage = (name: string, network: string, address?: string): Vantage => ({ name, network, address });
const voices = (vantages: readonly Vantage[], asnOf?: (address: string) => number | undefined) =>
  voicesOf(vantages, asnOf).map(({ label, vantages: members }) => `${label}: ${members.join(' ')}`);

describe('vantages are voices', () => {
  it('one for each label, in the order of the labels', () => {
    expect(voices([vantage('c', 'fra'), vantage('a', 'ams'), vantage('b', 'fra')])).toEqual([
      'ams: a',
      'fra: b c',
    ]);
    expect(voices([])).toEqual([]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.254', 1],
    ['192.0.2.1', '192.0.3.1', 2],
    ['2001:db8:1::1', '2001:db8:1:ffff::1', 1],
    ['2001:db8:1::1', '2001:db8:2::1', 2],
    ['192.0.2.1', '2001:db8:1::1', 2],
  ])('%s and %s are %i', (a, b, count) => {
    expect(voices([vantage('a', 'ams', a), vantage('b', 'fra', b)])).toHaveLength(count);
  });

  it('one for each autonomous system, where these are known', () => {
    const asnOf = (address: string) => (address.startsWith('192.') ? 64496 : undefined);
    const all = [
      vantage('a', 'ams', '192.0.2.1'),
      vantage('b', 'fra', '192.0.9.1'),
      vantage('c', 'lon', '198.51.100.1'),
      vantage('d', 'par', '203.0.113.1'),
    ];
    expect(voices(all, asnOf)).toEqual(['ams+fra: a b', 'lon: c', 'par: d']);
    expect(voices(all)).toHaveLength(4);
  });

  it('one, where one of them joins two others, whoever comes first', () => {
    const all = [
      vantage('a', 'ams', '192.0.2.1'),
      vantage('b', 'fra', '198.51.100.1'),
      vantage('c', 'ams', '198.51.100.9'),
    ];
    for (const order of [all, all.toReversed(), [all[2], all[0], all[1]] as Vantage[]])
      expect(voices(order)).toEqual(['ams+fra: a b c']);
  });
});

describe('a vantage is in force', () => {
  it('from its first request on, however long it is away later', () => {
    const setUp = (name: string, seenAt: Date | null) => ({ name, network: name, address: null, seenAt });
    const all = [setUp('a', new Date(0)), setUp('b', null)];
    expect(inForce(all)).toEqual([{ name: 'a', network: 'a', address: undefined }]);
    expect(areAsked(inForce(all))).toBe(false);
    expect(areAsked(inForce([setUp('a', new Date(0)), setUp('b', new Date(0))]))).toBe(true);
  });
});

describe('voices are asked', () => {
  it('from two networks on, also if one seems to stand beside the other: that would end the asking otherwise', () => {
    expect(areAsked([])).toBe(false);
    expect(areAsked([vantage('a', 'ams'), vantage('b', 'ams')])).toBe(false);
    expect(areAsked([vantage('a', 'ams', '192.0.2.1'), vantage('b', 'fra', '192.0.2.2')])).toBe(true);
  });
});

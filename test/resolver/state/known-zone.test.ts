import { describe, expect, it } from 'vitest';
import {
  KnownZone,
  noteMiss,
  noteReply,
  noteUse,
  type ZoneServers,
} from '../../../src/resolver/state/known-zone.ts';
import { name } from '../../support/world/zone-exchange.ts';

const A = name('a.net');
const B = name('b.net');

function zoneOf(servers: ZoneServers, limits = { namesPerZone: 16, addressesPerName: 8 }): KnownZone {
  const isAskable = (address: string) => !address.startsWith('10.');
  return new KnownZone(name('com'), servers, { isAskable, now: 0, ...limits });
}

/** Glue as `a 1.1.1.1, b 2.2.2.2`; the names are below net. */
const glueOf = (text: string) =>
  text.split(', ').map((each) => {
    const [label, address = ''] = each.split(' ');
    return { name: name(`${label}.net`), address };
  });

function addresses(zone: KnownZone, now = 0, hasIpv6 = true): string[] {
  return zone.addresses(now, hasIpv6).map(({ address }) => address);
}

describe('a zone', () => {
  it('has the addresses of its glue that may be asked, each once', () => {
    const glue = glueOf('a 1.1.1.1, a 10.1.1.1, a 2600::1, b 1.1.1.1, c 3.3.3.3');
    const zone = zoneOf({ names: [A, B], glue });
    expect(addresses(zone)).toEqual(['1.1.1.1', '2600::1']);
    expect(addresses(zone, 0, false)).toEqual(['1.1.1.1']);
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.addressCount(0, true)).toBe(2);
    expect(zone.addressCount(0, false)).toBe(1);
  });

  it('has none of a nameserver whose glue may not be asked', () => {
    const zone = zoneOf({ names: [A], glue: glueOf('a 10.1.1.1') });
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.addressCount(0, true)).toBe(0);
  });

  it('has nameservers that must be looked up, each of which may be one address', () => {
    const zone = zoneOf({ names: [A, B], glue: glueOf('a 1.1.1.1') });
    expect(zone.unresolved(0, true)).toEqual([B]);
    expect(zone.addressCount(0, true)).toBe(2);
    zone.resolve(B, { kind: 'found', addresses: ['2.2.2.2', '2600::2'] }, 1000);
    expect(addresses(zone)).toEqual(['1.1.1.1', '2.2.2.2', '2600::2']);
    expect(zone.addressCount(0, true)).toBe(3);
    expect(zone.unresolved(999, true)).toEqual([]);
    expect(zone.unresolved(1000, true)).toEqual([B]);
    expect(addresses(zone, 1000)).toEqual(['1.1.1.1']);
  });

  it('has none of a nameserver that has none, and perhaps one of one that was not found', () => {
    const zone = zoneOf({ names: [A, B], glue: [] });
    zone.resolve(A, { kind: 'none' }, 1000);
    zone.resolve(B, { kind: 'failed', reason: 'unreachable', message: '' }, 1000);
    expect(zone.addressCount(0, true)).toBe(1);
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.unresolved(1000, true)).toEqual([A, B]);
  });

  it('looks up a nameserver whose glue is of the other family', () => {
    const zone = zoneOf({ names: [A], glue: glueOf('a 2600::1') });
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.unresolved(0, false)).toEqual([A]);
    zone.resolve(A, { kind: 'none' }, 1000);
    expect(zone.unresolved(0, false)).toEqual([]);
    expect(zone.addressCount(0, false)).toBe(0);
  });

  it('has a spare address, used where there is no other', () => {
    const spare = { name: name('up.net'), address: '9.9.9.9' };
    expect(addresses(zoneOf({ names: [A], glue: [], spare }))).toEqual(['9.9.9.9']);
    expect(addresses(zoneOf({ names: [A], glue: glueOf('a 1.1.1.1'), spare }))).toEqual(['1.1.1.1']);
  });

  it('has no more of anything than is allowed', () => {
    const names = Array.from({ length: 5 }, (_, i) => name(`n${i}.net`));
    const glue = names.flatMap((each, i) =>
      Array.from({ length: 5 }, (_, j) => ({ name: each, address: `1.1.${i}.${j}` })),
    );
    const zone = zoneOf({ names, glue }, { namesPerZone: 2, addressesPerName: 3 });
    expect(addresses(zone)).toEqual(['1.1.0.0', '1.1.0.1', '1.1.0.2', '1.1.1.0', '1.1.1.1', '1.1.1.2']);
    expect(zone.walked.servers).toHaveLength(5);
  });

  it('gives its addresses to a zone that has the same nameservers', () => {
    const zone = zoneOf({ names: [A, B], glue: glueOf('a 1.1.1.1') });
    expect(zone.addressesOf([A, B, name('c.net')])).toEqual(glueOf('a 1.1.1.1'));
  });
});

describe('an address', () => {
  const only = (zone: KnownZone) => {
    const [address] = zone.addresses(0, true);
    if (address === undefined) throw new Error('no address');
    return address;
  };

  it('is shunned for longer after each miss, and welcome after a reply', () => {
    const zone = zoneOf({ names: [A], glue: glueOf('a 1.1.1.1') });
    const address = only(zone);
    const shunned: number[] = [];
    for (let i = 0; i < 12; i++) {
      noteMiss(address, 0);
      shunned.push(address.shunnedUntil);
    }
    expect(shunned.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(shunned.at(-1)).toBe(300_000);
    noteReply(address, 20);
    noteReply(address, 120);
    expect(address).toMatchObject({ misses: 0, shunnedUntil: 0, rttMs: 50 });
  });

  it('that missed before is tried by one at a time', () => {
    const address = only(zoneOf({ names: [A], glue: glueOf('a 1.1.1.1') }));
    noteUse(address, 5000);
    expect(address.shunnedUntil).toBe(0);
    noteMiss(address, 5000);
    noteUse(address, 6000);
    expect(address.shunnedUntil).toBe(16_000);
  });

  it('that was looked up keeps what is known of it over a new look-up', () => {
    const zone = zoneOf({ names: [A], glue: [] });
    zone.resolve(A, { kind: 'found', addresses: ['1.1.1.1'] }, 1000);
    noteMiss(only(zone), 0);
    expect(zone.addresses(1000, true)).toEqual([]);
    zone.resolve(A, { kind: 'found', addresses: ['1.1.1.1', '1.1.1.2'] }, 2000);
    expect(zone.addresses(1000, true).map(({ misses }) => misses)).toEqual([1, 0]);
  });
});

import { describe, expect, it, test } from 'vitest';
import { parseName, ROOT } from '../../src/dns/name.ts';
import { type Network, parseNetwork } from '../../src/dns/record/network.ts';
import { ExpiringCache } from '../../src/resolver/cache/expiring-cache.ts';
import { AddressCache } from '../../src/resolver/state/address-cache.ts';
import { AddressGate, type Asked, type TrialSource } from '../../src/resolver/state/address-gate.ts';
import { isAskable } from '../../src/resolver/state/address-rules.ts';
import {
  KnownZone,
  noteMiss,
  noteReply,
  noteUse,
  type ZoneServers,
} from '../../src/resolver/state/known-zone.ts';
import { Silences } from '../../src/resolver/state/silences.ts';
import { countFailures, failureMs, ZoneCache } from '../../src/resolver/state/zone-cache.ts';
import { wordsOf } from '../support/tests/rows-of.ts';
import { COM_A, COM_B, comInternet, testResolver } from '../support/world/test-resolver.ts';
import { name } from '../support/world/zone-exchange.ts';

describe('the limit of queries per address', () => {
  const ZONE = parseName('example.');

  function start(options: Partial<ConstructorParameters<typeof AddressGate>[0]> = {}) {
    const clock = { ms: 1_800_000_000_000 };
    const silences = new Silences(() => clock.ms);
    const gate = new AddressGate({ silences, now: () => clock.ms, ...options });
    const signal = new AbortController().signal;
    const enter = (address = '192.0.2.1', zone = ZONE, fresh = false) =>
      gate.enter(address, { zone, fresh, signal });
    const ask = async (asked: Asked, address?: string): Promise<string> => {
      const entry = await enter(address);
      if (entry.kind === 'open') entry.done(asked);
      return entry.kind;
    };
    const askAll = async (...all: Asked[]) => {
      const kinds: string[] = [];
      for (const asked of all) kinds.push(await ask(asked));
      return kinds.join(' ');
    };
    return { clock, gate, enter, ask, askAll };
  }

  describe('an address that has not answered today', () => {
    it('is queried three times per minute, and no more until it answers', async () => {
      const { clock, askAll } = start();
      expect(await askAll('silent', 'silent', 'given_up', 'silent')).toBe('open open open barred');
      clock.ms += 60_000;
      expect(await askAll(...Array<Asked>(21).fill('replied'))).not.toContain('barred');
    });

    it('has one open query at a time: the others wait for its end', async () => {
      const { enter } = start();
      const first = await enter();
      const order: string[] = [];
      const others = [enter(), enter()].map(async (entering) => {
        order.push((await entering).kind);
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(order).toEqual([]);
      if (first.kind === 'open') first.done('replied');
      await Promise.all(others);
      expect(order).toEqual(['open', 'open']);
    });

    it('does not delay queries to another address', async () => {
      const { enter } = start();
      await enter('192.0.2.1');
      expect((await enter('192.0.2.2')).kind).toBe('open');
    });

    it('is abandoned with the check that waits for it', async () => {
      const { gate, enter } = start();
      await enter();
      const over = new AbortController();
      const waiting = gate.enter('192.0.2.1', { zone: ZONE, fresh: false, signal: over.signal });
      over.abort(new Error('over'));
      await expect(waiting).rejects.toThrow('over');
    });
  });

  describe('the state shared by all workers', () => {
    const source = (kinds: ('proven' | 'go' | 'wait' | Error)[]) => {
      const reports: string[] = [];
      let asked = 0;
      const trials: TrialSource = {
        async ask() {
          const kind = kinds[Math.min(asked++, kinds.length - 1)];
          if (kind instanceof Error) throw kind;
          return { kind: kind as 'go', waitMs: 60_000 };
        },
        report: (address, replied) => void reports.push(`${address} ${replied}`),
      };
      return { trials, reports, asked: () => asked };
    };

    it('decides, and is read once for a proven address', async () => {
      const { trials, reports, asked } = source(['proven']);
      const { askAll } = start({ trials });
      expect(await askAll('replied', 'replied', 'replied')).toBe('open open open');
      expect([asked(), reports]).toEqual([1, []]);
    });

    it('receives the results of trials', async () => {
      const { trials, reports } = source(['go']);
      const { askAll } = start({ trials });
      expect(await askAll('silent', 'not_sent', 'replied', 'replied')).toBe('open open open open');
      expect(reports).toEqual(['192.0.2.1 false', '192.0.2.1 true']);
    });

    it('is not read for each query while an address is barred', async () => {
      const { trials, asked } = source(['wait', 'proven']);
      const { clock, ask, askAll } = start({ trials });
      expect(await askAll('silent', 'silent', 'silent')).toBe('barred barred barred');
      expect(asked()).toBe(1);
      clock.ms += 5000;
      expect(await ask('silent')).toBe('open');
    });

    it("is replaced by this process's own state while it is unavailable", async () => {
      const { trials } = source([new Error('away')]);
      const { askAll } = start({ trials });
      expect(await askAll('silent', 'silent', 'silent', 'silent')).toBe('open open open barred');
    });
  });

  describe('an address that has answered today', () => {
    it('is barred after three timeouts, but not for a waiting user', async () => {
      const { askAll, enter } = start();
      const kinds = await askAll('replied', 'silent', 'silent', 'silent', 'silent');
      expect(kinds).toBe('open open open open barred');
      expect((await enter('192.0.2.1', ZONE, true)).kind).toBe('open');
    });

    it('shares the limit of its network, unless its zone is the root or one that no customer chooses', async () => {
      const taken: string[] = [];
      const com = parseName('com.');
      const { ask, enter } = start({
        networks: {
          async take(network) {
            taken.push(network);
          },
        },
        isExempt: (zone) => zone === com,
      });
      for (const address of ['192.0.2.1', '192.0.2.200', '2001:db8:1:2::3']) await ask('replied', address);
      expect(taken).toEqual([]); // a trial is one query at a time
      for (const address of ['192.0.2.1', '192.0.2.200', '2001:db8:1:2::3']) await enter(address);
      expect(taken).toEqual(['c00002/24', 'c00002/24', '20010db80001/48']);
      await enter('192.0.2.1', com);
      await enter('192.0.2.1', parseName('.'));
      expect(taken).toHaveLength(3);
    });
  });
});

/** First and last addresses of the ranges that are never queried. */
const FORBIDDEN = `
  0.0.0.0           0.255.255.255      this network, RFC 791
  10.0.0.0          10.255.255.255     private, RFC 1918
  100.64.0.0        100.127.255.255    shared, RFC 6598
  127.0.0.0         127.255.255.255    loopback, RFC 1122
  169.254.0.0       169.254.255.255    link-local, RFC 3927
  172.16.0.0        172.31.255.255     private, RFC 1918
  192.0.0.0         192.0.0.255        protocol assignments, RFC 6890
  192.0.2.0         192.0.2.255        documentation, RFC 5737
  192.88.99.0       192.88.99.255      6to4 relays, RFC 7526
  192.168.0.0       192.168.255.255    private, RFC 1918
  198.18.0.0        198.19.255.255     benchmarks, RFC 2544
  198.51.100.0      198.51.100.255     documentation, RFC 5737
  203.0.113.0       203.0.113.255      documentation, RFC 5737
  224.0.0.0         239.255.255.255    multicast, RFC 5771
  240.0.0.0         255.255.255.255    reserved and broadcast, RFC 1112, RFC 919
  ::                ::                 unspecified, RFC 4291
  ::1               ::1                loopback, RFC 4291
  ::7f00:1          ::7f00:1           IPv4-compatible, RFC 4291
  ::808:808         ::808:808          IPv4-compatible, RFC 4291
  ::ffff:127.0.0.1  ::ffff:127.0.0.1   IPv4-mapped, RFC 4291
  ::ffff:8.8.8.8    ::ffff:8.8.8.8     IPv4-mapped, never on the wire
  64:ff9b:1::       64:ff9b:1:ffff:ffff:ffff:ffff:ffff  local NAT64, RFC 8215
  100::             100::ffff:ffff:ffff:ffff            discard, RFC 6666
  100:0:0:1::       100:0:0:1:ffff:ffff:ffff:ffff       dummy, RFC 9780
  2001::            2001:0:ffff:ffff:ffff:ffff:ffff:ffff  Teredo, RFC 4380
  2001:2::          2001:2:0:ffff:ffff:ffff:ffff:ffff     benchmarks, RFC 5180
  2001:10::         2001:1f:ffff:ffff:ffff:ffff:ffff:ffff ORCHID, RFC 4843
  2001:20::         2001:2f:ffff:ffff:ffff:ffff:ffff:ffff ORCHIDv2, RFC 7343
  2001:100::        2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff protocol assignments, RFC 2928
  2001:db8::        2001:db8:ffff:ffff:ffff:ffff:ffff:ffff documentation, RFC 3849
  3fff::            3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff documentation, RFC 9637
  5f00::            5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff segment routing, RFC 9602
  4000::            fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff not given out, RFC 4291
  fc00::            fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff unique local, RFC 4193
  fe80::            febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff link-local, RFC 4291
  fec0::            feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff site-local, RFC 3879
  ff00::            ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff multicast, RFC 4291
`;

const ASKABLE = `
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
  172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
  223.255.255.255 8.8.8.8 192.31.196.1 192.175.48.1
  2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:500:2::c 2001:7fd::1 2003:: 2620:4f:8000::1
  2001:4:112::1 2801:1b8:10::b 3ffe:ffff:: 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`;

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network);
const askable = (addresses: readonly string[], allowed: readonly Network[] = []) =>
  addresses.filter((address) => isAskable(address, allowed));

describe('isAskable', () => {
  it.each(
    FORBIDDEN.trim()
      .split('\n')
      .map((line) => wordsOf(line)),
  )('is false from %s to %s: %s %s %s %s', (first = '', last = '') => {
    expect(askable([first, last])).toEqual([]);
  });

  it.each(wordsOf(ASKABLE))('is true for %s', (address) => {
    expect(isAskable(address, [])).toBe(true);
  });

  // packets to these are delivered to the embedded IPv4 address: RFC 3056 §2, RFC 6052 §2.1
  it.each([
    ['2002:#::1', '6to4'],
    ['64:ff9b::#', 'NAT64'],
  ])('evaluates an address in %s by the embedded IPv4 address (%s)', (form) => {
    const private4 = '7f00:1 a00:1 a9fe:a9fe c0a8:1 ac10:1 6440:1 e000:1 ffff:ffff 0:0';
    expect(askable(wordsOf(private4).map((hex) => form.replace('#', hex)))).toEqual([]);
    expect(isAskable(form.replace('#', '808:808'), [])).toBe(true);
  });

  it('is false for a text that is not an address', () => {
    const texts = 'localhost 8.8.8 8.8.8.8. 010.8.8.8 0x08.8.8.8 134744072 8.8.8.8/32 2001:500:2::c%eth0';
    expect(askable(['', ' 8.8.8.8', ...wordsOf(`${texts} [2001:500:2::c] 2001:500:2 :::`)])).toEqual([]);
  });

  it('is true for allowed networks, and for no other forbidden address', () => {
    const allowed = networks('127.0.0.0/8', '10.1.2.0/23', 'fd00:1::/32', '::1/128');
    const yes = wordsOf('127.0.0.1 10.1.3.255 fd00:1:ffff:: ::1 8.8.8.8');
    const no = wordsOf('10.1.4.0 10.1.1.255 fd00:2:: ::2 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::1');
    expect(askable([...yes, ...no], allowed)).toEqual(yes);
    // a prefix of length 0 allows the whole family
    expect(askable(['127.0.0.1', '::1'], networks('0.0.0.0/0'))).toEqual(['127.0.0.1']);
  });
});

describe('an entry of an expiring cache', () => {
  it('exists until it expires, and its last value after that', () => {
    const cache = new ExpiringCache<string>(10);
    cache.set('a', 'one', 100);
    expect(cache.get('a', 99)).toBe('one');
    expect(cache.get('a', 100)).toBe(undefined);
    expect(cache.last('a')).toEqual({ value: 'one', expiresAt: 100 });
    cache.set('a', 'two', 200);
    expect(cache.get('a', 100)).toBe('two');
    cache.delete('a');
    expect(cache.last('a')).toBe(undefined);
  });

  it('stays while it is used, and is evicted if its place is needed', () => {
    const cache = new ExpiringCache<number>(10);
    cache.set('used', 1, 100);
    cache.set('unused', 2, 100);
    for (let i = 0; i < 50; i++) {
      cache.set(`other ${i}`, i, 100);
      expect(cache.get('used', 0)).toBe(1);
      expect(cache.size).toBeLessThanOrEqual(10);
    }
    expect(cache.get('unused', 0)).toBe(undefined);
    expect(cache.get('other 49', 0)).toBe(49);
  });

  it('is deleted from either generation', () => {
    const cache = new ExpiringCache<number>(4);
    cache.set('a', 1, 100);
    for (const key of ['b', 'c']) cache.set(key, 2, 100);
    cache.delete('a');
    expect(cache.get('a', 0)).toBe(undefined);
  });
});

const A = name('a.net');
const B = name('b.net');

function zoneOf(servers: ZoneServers, limits = { namesPerZone: 16, addressesPerName: 8 }): KnownZone {
  const isAskable = (address: string) => !address.startsWith('10.');
  return new KnownZone(name('com'), servers, { isAskable, now: 0, ...limits });
}

/** Glue as `a 1.1.1.1, b 2.2.2.2`. The names are below net. */
const glueOf = (text: string) =>
  text.split(', ').map((each) => {
    const [label, address = ''] = each.split(' ');
    return { name: name(`${label}.net`), address };
  });

function addresses(zone: KnownZone, now = 0, hasIpv6 = true): string[] {
  return zone.addresses(now, hasIpv6).map(({ address }) => address);
}

describe('a cached zone', () => {
  it('has the queryable addresses of its glue without duplicates', () => {
    const glue = glueOf('a 1.1.1.1, a 10.1.1.1, a 2600::1, b 1.1.1.1, c 3.3.3.3');
    const zone = zoneOf({ names: [A, B], glue });
    expect(addresses(zone)).toEqual(['1.1.1.1', '2600::1']);
    expect(addresses(zone, 0, false)).toEqual(['1.1.1.1']);
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.addressCount(0, true)).toBe(2);
    expect(zone.addressCount(0, false)).toBe(1);
  });

  it('has none for a nameserver whose glue may not be queried', () => {
    const zone = zoneOf({ names: [A], glue: glueOf('a 10.1.1.1') });
    expect(zone.unresolved(0, true)).toEqual([]);
    expect(zone.addressCount(0, true)).toBe(0);
  });

  it('has nameservers that must be looked up, each of which counts as one address', () => {
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

  it('has none for a nameserver without addresses, and possibly one for one that was not found', () => {
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

  it('has a spare address, used if there is no other', () => {
    const spare = { name: name('up.net'), address: '9.9.9.9' };
    expect(addresses(zoneOf({ names: [A], glue: [], spare }))).toEqual(['9.9.9.9']);
    expect(addresses(zoneOf({ names: [A], glue: glueOf('a 1.1.1.1'), spare }))).toEqual(['1.1.1.1']);
  });

  it('is limited in all respects', () => {
    const names = Array.from({ length: 5 }, (_, i) => name(`n${i}.net`));
    const glue = names.flatMap((each, i) =>
      Array.from({ length: 5 }, (_, j) => ({ name: each, address: `1.1.${i}.${j}` })),
    );
    const zone = zoneOf({ names, glue }, { namesPerZone: 2, addressesPerName: 3 });
    expect(addresses(zone)).toEqual(['1.1.0.0', '1.1.0.1', '1.1.0.2', '1.1.1.0', '1.1.1.1', '1.1.1.2']);
    expect(zone.walked.servers).toHaveLength(5);
  });

  it('passes its addresses to a zone with the same nameservers', () => {
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

  it('is avoided for longer after each miss, and used again after a reply', () => {
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

  it('that missed before is tested by one query at a time', () => {
    const address = only(zoneOf({ names: [A], glue: glueOf('a 1.1.1.1') }));
    noteUse(address, 5000);
    expect(address.shunnedUntil).toBe(0);
    noteMiss(address, 5000);
    noteUse(address, 6000);
    expect(address.shunnedUntil).toBe(16_000);
  });

  it('that was looked up keeps its statistics after a new lookup', () => {
    const zone = zoneOf({ names: [A], glue: [] });
    zone.resolve(A, { kind: 'found', addresses: ['1.1.1.1'] }, 1000);
    noteMiss(only(zone), 0);
    expect(zone.addresses(1000, true)).toEqual([]);
    zone.resolve(A, { kind: 'found', addresses: ['1.1.1.1', '1.1.1.2'] }, 2000);
    expect(zone.addresses(1000, true).map(({ misses }) => misses)).toEqual([1, 0]);
  });
});

test('a manual verification retries recent failures, a scheduled one does not', async () => {
  const exchange = comInternet('example NS ns.example\nns.example A 5.3.0.1');
  exchange.behave(COM_A, () => 'silent').behave(COM_B, () => 'silent');
  const { resolver } = testResolver(exchange);
  const host = name('_svc-challenge.example.com');
  await resolver.observeTxt(host);
  exchange.takeAsked();
  await resolver.observeTxt(host);
  expect(exchange.takeAsked()).toEqual([]);
  await resolver.observeTxt(host, { fresh: true });
  expect(exchange.takeAsked().length).toBeGreaterThan(0);
});

test('the result of a manual verification is shared with all', async () => {
  const exchange = comInternet('example NS ns.example\nns.example A 5.3.0.1');
  exchange.behave(COM_A, () => 'silent').behave(COM_B, () => 'silent');
  const { resolver } = testResolver(exchange);
  const host = name('_svc-challenge.other.com');
  await resolver.observeTxt(host);
  exchange.behave(COM_A, () => undefined).behave(COM_B, () => undefined);
  await resolver.observeTxt(host, { fresh: true });
  const before = exchange.takeAsked().length;
  const { links } = await resolver.observeTxt(host);
  expect(before).toBeGreaterThan(0);
  expect(links.length).toBeGreaterThan(0);
});

describe('silence', () => {
  const MINUTE = 60_000;

  it('is remembered after three consecutive timeouts, and forgotten after a reply', () => {
    const { silences } = start();
    silent(silences, 'a', 2);
    expect(silences.isSilent('a')).toBe(false);
    expect(silences.takeNews()).toEqual([]);
    silent(silences, 'a', 1);
    expect(silences.isSilent('a')).toBe(true);
    silences.noteReply('a');
    expect(silences.isSilent('a')).toBe(false);
    silent(silences, 'a', 2);
    expect(silences.isSilent('a')).toBe(false);
  });

  it('ends with one query, and while that is open the others wait', () => {
    const { clock, silences } = start();
    silent(silences, 'a');
    clock.ms += 5 * MINUTE - 1;
    expect(silences.isSilent('a')).toBe(true);
    clock.ms += 1;
    expect([silences.isSilent('a'), silences.isSilent('a')]).toEqual([false, true]);
    silences.noteSilence('a');
    clock.ms += 10 * MINUTE - 1;
    expect(silences.isSilent('a')).toBe(true);
    clock.ms += 1;
    expect(silences.isSilent('a')).toBe(false);
    clock.ms += 20_000; // the process that sent it has ended
    expect(silences.isSilent('a')).toBe(false);
  });

  it('of queries that were open together counts once', () => {
    const { clock, silences } = start();
    silent(silences, 'a', 50);
    clock.ms += 5 * MINUTE;
    expect(silences.isSilent('a')).toBe(false);
  });

  it('is shared with others, and so is its end', () => {
    const { clock, silences } = start();
    const other = new Silences(() => clock.ms);
    silent(silences, 'a');
    const news = silences.takeNews();
    expect(news).toEqual([{ key: 'a', count: 3, until: clock.ms + 5 * MINUTE }]);
    for (const one of news) other.learn(one);
    expect(other.isSilent('a')).toBe(true);
    expect([silences.takeNews(), other.takeNews()]).toEqual([[], []]);
    other.noteReply('a');
    for (const one of other.takeNews()) silences.learn(one);
    expect(silences.isSilent('a')).toBe(false);
  });

  it('takes limited memory, regardless of who silences how many keys', () => {
    const { silences } = start();
    for (let i = 0; i < 30_000; i++) silent(silences, `parent ${i}.`);
    expect(silences.takeNews().length).toBe(2000);
    expect(silences.isSilent('parent 29999.')).toBe(true);
    expect(silences.isSilent('parent 0.')).toBe(false);
  });

  function start() {
    const clock = { ms: 1_800_000_000_000 };
    return { clock, silences: new Silences(() => clock.ms) };
  }

  function silent(silences: Silences, key: string, times = 3): void {
    for (let i = 0; i < times; i++) silences.noteSilence(key);
  }
});

function world() {
  const clock = { now: 0 };
  const cache = new ZoneCache(100, () => clock.now);
  const known = () =>
    new KnownZone(
      name('com'),
      { names: [name('a.gtld')], glue: [{ name: name('a.gtld'), address: '1.2.3.4' }] },
      { isAskable: () => true, namesPerZone: 16, addressesPerName: 8, now: clock.now },
    );
  return { clock, cache, known };
}

describe('a cached failure', () => {
  it('lasts a second at first and at most five minutes', () => {
    expect([1, 2, 3, 4, 9, 10, 100].map((count) => failureMs(count))).toEqual([
      1000, 2000, 4000, 8000, 256_000, 300_000, 300_000,
    ]);
  });

  it('is the first again after a while', () => {
    expect(countFailures(undefined, 0)).toBe(1);
    expect(countFailures({ count: 3, expiresAt: 1000 }, 601_000)).toBe(4);
    expect(countFailures({ count: 3, expiresAt: 1000 }, 601_001)).toBe(1);
  });

  it('counts on from the previous one, and from zero after a success', () => {
    const { cache, clock, known } = world();
    const failure = { zone: ROOT, reason: 'unreachable', message: '' } as const;
    const holdsFor = () => {
      const start = clock.now;
      cache.putFailure(name('com'), failure);
      while (cache.get(name('com')) !== undefined) clock.now += 500;
      return clock.now - start;
    };
    expect([holdsFor(), holdsFor(), holdsFor()]).toEqual([1000, 2000, 4000]);
    cache.putCut(known(), 1);
    clock.now += 1000;
    expect(holdsFor()).toBe(1000);
  });
});

it('a cached cut keeps the statistics of its addresses if it is queried again', () => {
  const { cache, clock, known } = world();
  const first = known();
  cache.putCut(first, 60);
  const [address] = first.addresses(clock.now, false);
  if (address === undefined) throw new Error('no address');
  noteMiss(address, clock.now);
  const again = known();
  cache.putCut(again, 60);
  expect(again.addresses(clock.now, false)[0]).toMatchObject({ misses: 1, shunnedUntil: 1000 });
});

describe('cached addresses', () => {
  it('that were looked up without IPv6 do not count with it', () => {
    const cache = new AddressCache(10, () => 0);
    cache.put(name('ns.net'), { kind: 'found', addresses: ['1.2.3.4'] }, 60, false);
    expect(cache.get(name('ns.net'), false)).toMatchObject({ until: 60_000 });
    expect(cache.get(name('ns.net'), true)).toBe(undefined);
  });

  it('last at most a day, their absence an hour, and a failure a second and longer each time', () => {
    const cache = new AddressCache(10, () => 0);
    const host = name('ns.net');
    const failed = { kind: 'failed', reason: 'unreachable', message: '' } as const;
    expect(cache.put(host, { kind: 'found', addresses: [] }, 1e6, true).until).toBe(86_400_000);
    expect(cache.put(host, { kind: 'none' }, 1e6, true).until).toBe(3_600_000);
    expect(cache.put(host, failed, 1e6, true).until).toBe(1000);
    expect(cache.put(host, failed, 1e6, true).until).toBe(2000);
  });
});

import { getEventListeners } from 'node:events';
import type { NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { decodeMessage, type Message } from '../../src/dns/message/message.ts';
import { foldCase, MAX_NAME_OCTETS, type Name, parseName, ROOT } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { unwatchAbort, watchAbort } from '../../src/resolver/exchange/abort-watch.ts';
import { encodeQuery, setId } from '../../src/resolver/exchange/encode-query.ts';
import { watchIpv6 } from '../../src/resolver/exchange/has-ipv6.ts';
import { MIXING_BYTES, mixCase } from '../../src/resolver/exchange/mixed-case.ts';
import { OpenSockets } from '../../src/resolver/exchange/open-sockets.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';

// Thousands of tasks that wait for one signal.
describe('watchAbort', () => {
  it('has one listener for all tasks, and none after the last one has ended', () => {
    const { signal } = new AbortController();
    const callbacks = Array.from({ length: 1000 }, () => () => {});
    for (const callback of callbacks) watchAbort(signal, callback);
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    for (const callback of callbacks) unwatchAbort(signal, callback);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });

  it('calls each remaining one once, even if a callback removes another one', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const called: string[] = [];
    const third = () => called.push('third');
    watchAbort(signal, () => {
      called.push('first');
      unwatchAbort(signal, third);
    });
    const second = () => called.push('second');
    watchAbort(signal, second);
    unwatchAbort(signal, second);
    watchAbort(signal, third);
    watchAbort(signal, () => called.push('fourth'));
    controller.abort();
    expect(called).toEqual(['first', 'fourth']);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });
});

const LONGEST = `${`\x3f${'x'.repeat(63)}`.repeat(3)}\x3d${'y'.repeat(61)}\0` as Name;

describe('encodeQuery', () => {
  for (const [what, name, type] of [
    ['a domain', parseName('www.example.'), TYPE.NS],
    ['the root', ROOT, TYPE.NS],
    ['a name of non-letter octets', parseName('\\000\\255\\..example.'), TYPE.AAAA],
    ['a type above 255', parseName('example.'), TYPE.CAA],
    ['the longest name', LONGEST, 0xffff],
  ] as const) {
    for (const edns of [true, false]) {
      it(`encodes a query for ${what} ${edns ? 'with' : 'without'} EDNS, as the codec would`, () => {
        const query = encodeQuery(name, type, edns);
        setId(query, 0xabcd);
        const message: Message = {
          id: 0xabcd,
          ...{ qr: false, opcode: 0, aa: false, tc: false, rd: false, ra: false, ad: false, cd: false },
          rcode: 0,
          questions: [{ name, type, class: 1 }],
          answers: [],
          authorities: [],
          additionals: [],
          ...(edns && { edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] } }),
        };
        expect(Buffer.from(query)).toEqual(Buffer.from(encodeMessage(message)));
        expect(decodeMessage(query)).toEqual(message);
      });
    }
  }

  it('accepts names of maximum length', () => {
    expect(LONGEST.length).toBe(MAX_NAME_OCTETS);
  });
});

function interfacesWith(address: string, { internal = false } = {}): Record<string, NetworkInterfaceInfo[]> {
  const common = { netmask: '', mac: '', internal, cidr: null };
  const family = address.includes(':')
    ? ({ family: 'IPv6', scopeid: 0 } as const)
    : ({ family: 'IPv4' } as const);
  return { eth0: [{ ...common, ...family, address } as NetworkInterfaceInfo] };
}

function hasIpv6(interfaces: ReturnType<typeof networkInterfaces>, privateToo: boolean): boolean {
  return watchIpv6(privateToo, () => interfaces)();
}

describe('a machine can use IPv6', () => {
  it.each([
    ['2001:db8::1', false, true],
    ['3fff::1', false, true],
    ['fe80::1', true, false], // link-local does not reach other networks
    ['fd00::1', false, false],
    ['fd00::1', true, true],
    ['fc00::1', true, true],
    ['::1', true, false],
    ['192.0.2.1', true, false],
  ])('with %s, private addresses accepted: %s → %s', (address, privateToo, can) => {
    expect(hasIpv6(interfacesWith(address), privateToo)).toBe(can);
  });

  it('not with an address of the machine itself, nor without any', () => {
    expect(hasIpv6(interfacesWith('2001:db8::1', { internal: true }), true)).toBe(false);
    expect(hasIpv6({}, true)).toBe(false);
    expect(hasIpv6({ eth0: undefined }, true)).toBe(false);
  });
});

function mixed(name: Name, random: Uint8Array): Name {
  const query = encodeQuery(name, TYPE.NS, true);
  const before = Uint8Array.from(query);
  mixCase(query, random);
  const end = 12 + name.length;
  expect(query.subarray(0, 12)).toEqual(before.subarray(0, 12));
  expect(query.subarray(end)).toEqual(before.subarray(end));
  return decodeMessage(query).questions[0]?.name as Name;
}

describe('mixCase', () => {
  it('writes a letter in upper case if its bit is set, regardless of its previous case', () => {
    const ones = new Uint8Array(MIXING_BYTES).fill(255);
    const zeros = new Uint8Array(MIXING_BYTES);
    expect(mixed(parseName('wWw.eXample.'), ones)).toBe(parseName('WWW.EXAMPLE.'));
    expect(mixed(parseName('wWw.eXample.'), zeros)).toBe(parseName('www.example.'));
    const alternating = new Uint8Array(MIXING_BYTES).fill(0b1010_1010);
    expect(mixed(parseName('abcdefghij.'), alternating)).toBe(parseName('AbCdEfGhIj.'));
  });

  it('does not change octets that are not letters', () => {
    const name = parseName('a1-_\\@\\[\\`\\{\\000\\193\\225.x--y.');
    const ones = new Uint8Array(MIXING_BYTES).fill(255);
    expect(mixed(name, ones)).toBe(parseName('A1-_\\@\\[\\`\\{\\000\\193\\225.X--Y.'));
    expect(mixed(ROOT, ones)).toBe(ROOT);
  });

  it('reaches the last letter of the longest name, and keeps length octets', () => {
    const name = `${`\x3f${'x'.repeat(63)}`.repeat(3)}\x3d${'y'.repeat(61)}\0` as Name;
    const last = new Uint8Array(MIXING_BYTES);
    last[253 >> 3] = 1 << (253 & 7);
    expect(mixed(name, last)).toBe(`${name.slice(0, 253)}Y\0`);
    expect(foldCase(mixed(name, new Uint8Array(MIXING_BYTES).fill(0x3c)))).toBe(name);
  });
});

describe('OpenSockets', () => {
  it('starts tasks immediately while there are sockets, then in order of arrival', () => {
    const sockets = new OpenSockets(2);
    const started: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) sockets.take(() => started.push(name));
    expect(started).toEqual(['a', 'b']);
    sockets.release();
    expect(started).toEqual(['a', 'b', 'c']);
    sockets.release();
    expect([started, sockets.open]).toEqual([['a', 'b', 'c', 'd'], 2]);
  });

  it('skips tasks that no longer wait', () => {
    const sockets = new OpenSockets(1);
    const started: string[] = [];
    const first = () => started.push('first');
    const second = () => started.push('second');
    sockets.take(first);
    sockets.take(second);
    sockets.take(() => started.push('third'));
    expect([sockets.cancel(second), sockets.cancel(second), sockets.cancel(first)]).toEqual([
      true,
      false,
      false,
    ]);
    sockets.release();
    expect(started).toEqual(['first', 'third']);
  });

  it('are scarce if at least half are in use', () => {
    const sockets = new OpenSockets(4);
    const scarce = [1, 2, 3].map(() => {
      sockets.take(() => {});
      return sockets.areScarce;
    });
    expect(scarce).toEqual([false, true, true]);
  });

  it('does not nest when a hundred thousand starts fail one after the other', () => {
    const sockets = new OpenSockets(1);
    sockets.take(() => {});
    let failed = 0;
    for (let i = 0; i < 100_000; i++) {
      sockets.take(() => {
        failed++;
        sockets.release();
      });
    }
    sockets.release();
    expect([failed, sockets.open]).toEqual([100_000, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { apexRecords, printDnsContent, publishApex, publishName } from '../../src/zone/publish/publish.ts';
import {
  findSet,
  type NameserverChoice,
  nameserverSetsOf,
} from '../../src/zone/publish/select-nameservers.ts';
import { markOf, unprovenMarkOf, type ZoneRecord } from '../../src/zone/zone.ts';
import { APEX, EDGES, NO_EDGES, newRecord, records } from '../support/zone/customer-records.ts';
import { publishRecords } from '../support/zone/publish-records.ts';

const line = ({ owner, ttl, type, rdata }: ZoneRecord) =>
  `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
const shown = (all: readonly ZoneRecord[]): string[] => all.map(line);
const published = (...lines: string[]) => shown(publishName(records(lines), EDGES));
const edgesAt = (name: string, ttl: number) => [
  `${name} ${ttl} A 203.0.113.1`,
  `${name} ${ttl} A 203.0.113.2`,
  `${name} ${ttl} AAAA 2001:db8::1`,
];

describe('a name', () => {
  it('is published as written', () => {
    expect(published('www 600 A 192.0.2.1', 'www 900 TXT x', 'www 60 HTTPS 1 . alpn=h2')).toEqual([
      'www.example.com. 600 A 192.0.2.1',
      'www.example.com. 900 TXT "x"',
      'www.example.com. 60 HTTPS 1 . alpn=h2',
    ]);
  });

  it.each([
    'www A 192.0.2.1',
    'www AAAA 2001:db8::99',
    'www CNAME web.example.net',
    '* ANAME web.example.net',
  ])('with a proxied %s publishes every edge address', (line) => {
    expect(published(`${line} ; proxied`)).toEqual(edgesAt(`${line.split(' ')[0]}.example.com.`, 300));
  });

  it('that is proxied has a TTL of at most 300, the lowest of its records', () => {
    expect(published('www 3600 A 192.0.2.1 ; proxied')).toEqual(edgesAt('www.example.com.', 300));
    expect(published('www 3600 A 192.0.2.1 ; proxied', 'www 60 AAAA 2001:db8::99 ; proxied')).toEqual(
      edgesAt('www.example.com.', 60),
    );
  });

  it('publishes the edge once for several proxied records, in addition to its other types', () => {
    const proxied = ['A 192.0.2.1', 'A 192.0.2.2', 'CNAME web.example.net'].map(
      (one) => `@ ${one} ; proxied`,
    );
    expect(published(...proxied, '@ MX 0 mx.example.net')).toEqual([
      'example.com. 300 MX 0 mx.example.net.',
      ...edgesAt('example.com.', 300),
    ]);
  });

  it('publishes equal rdata once', () => {
    expect(published('@ TXT x', '@ TXT x', '@ MX 0 MX.example.net', '@ MX 0 mx.example.net')).toEqual([
      'example.com. 300 TXT "x"',
      'example.com. 300 MX 0 MX.example.net.',
    ]);
    const twice = { v4: ['203.0.113.1', '203.0.113.1'], v6: [] };
    expect(publishName([newRecord('www A 192.0.2.1 ; proxied')], twice)).toHaveLength(1);
  });

  it('with an unproxied ANAME has the last known addresses of its target', () => {
    const aname = [newRecord('@ 600 ANAME web.example.net'), newRecord('@ TXT x')];
    expect(shown(publishName(aname, EDGES))).toEqual(['example.com. 300 TXT "x"']);
    const flattened = { v4: ['192.0.2.7'], v6: ['2001:db8::7'], ttl: 120 };
    expect(shown(publishName(aname, EDGES, flattened))).toEqual([
      'example.com. 120 A 192.0.2.7',
      'example.com. 120 AAAA 2001:db8::7',
      'example.com. 300 TXT "x"',
    ]);
    expect(shown(publishName(aname, EDGES, { ...flattened, ttl: 7200 }))[0]).toBe(
      'example.com. 600 A 192.0.2.7',
    );
  });

  it('is marked only if nothing is published', () => {
    const mark = [markOf(parseName('www.example.com.'))];
    const proxied = newRecord('www A 192.0.2.1 ; proxied');
    const aname = newRecord('www ANAME web.example.net');
    expect(publishName([proxied], NO_EDGES)).toEqual(mark);
    expect(publishName([proxied, newRecord('www AAAA 2001:db8::7 ; proxied')], NO_EDGES)).toEqual(mark);
    expect(publishName([aname], EDGES)).toEqual(mark);
    expect(publishName([aname], EDGES, { v4: [], v6: [], ttl: 60 })).toEqual(mark);
    expect(publishName([aname], EDGES, { v4: ['192.0.2.7'], v6: [], ttl: 60 })).toHaveLength(1);
    expect(shown(publishName([proxied, newRecord('www TXT x')], NO_EDGES))).toEqual([
      'www.example.com. 300 TXT "x"',
    ]);
    expect(publishName([], EDGES)).toEqual([]);
  });
});

it('a domain is a zone with the SOA and NS of the service', () => {
  const nameservers = [parseName('ns1.zonefleet.test.'), parseName('NS2.zonefleet.test.')];
  const rname = parseName('hostmaster.zonefleet.test.');
  const apex = apexRecords({ apex: APEX, nameservers, serial: 7, rname });
  expect(shown(apex)).toEqual([
    'example.com. 3600 SOA ns1.zonefleet.test. hostmaster.zonefleet.test. 7 10000 2400 604800 1800',
    'example.com. 86400 NS ns1.zonefleet.test.',
    'example.com. 86400 NS ns2.zonefleet.test.',
  ]);
  const own = publishRecords(
    records(['@ CNAME web.example.net ; proxied', '@ MX 0 mx.example.net', '* A 192.0.2.1']),
    EDGES,
  );
  const built = buildZone(APEX, [...apex, ...own]);
  expect(built.kind === 'built' && [built.zone.serial, built.zone.negativeTtl, built.zone.records]).toEqual([
    7, 1800, 8,
  ]);
  expect(() => apexRecords({ apex: APEX, nameservers: [], serial: 1, rname })).toThrow(RangeError);
});

it.each([
  ['www A 192.0.2.1', '192.0.2.1'],
  ['www A 192.0.2.1 ; proxied', '203.0.113.1, 203.0.113.2, 2001:db8::1'],
  ['www CNAME web.example.net ; proxied', '203.0.113.1, 203.0.113.2, 2001:db8::1'],
  ['www CNAME web.example.net', 'web.example.net.'],
  ['@ MX 10 mx.example.net', '10 mx.example.net.'],
  ['@ TXT x', '"x"'],
  ['@ ANAME web.example.net', ''],
])('the published content of %s is %s', (line, content) => {
  expect(printDnsContent(newRecord(line), EDGES)).toBe(content);
});

it('the published content of an ANAME is its addresses', () => {
  const flattened = { v4: ['192.0.2.7'], v6: ['2001:db8::7'], ttl: 60 };
  expect(printDnsContent(newRecord('@ ANAME web.example.net'), EDGES, flattened)).toBe(
    '192.0.2.7, 2001:db8::7',
  );
});

describe('an apex', () => {
  const apex = parseName('example.com.');
  const own = apexRecords({ apex, nameservers: [parseName('ns.example.net.')], serial: 1, rname: apex });
  const record = { owner: apex, type: TYPE.A, ttl: 60, rdata: Uint8Array.of(192, 0, 2, 1) };

  it('has the records of the service and of its owner, and no marker', () => {
    expect(publishApex(own, [record], { served: 'full', status: 'active' })).toEqual([...own, record]);
    expect(publishApex(own, [markOf(apex)], { served: 'full', status: 'active' })).toEqual(own);
  });

  it('has a special marker if the whole zone is answered before the domain is proven', () => {
    const published = publishApex(own, [record, markOf(apex)], { served: 'full', status: 'pending' });
    expect(published).toEqual([...own, unprovenMarkOf(apex), record]);
  });

  it('has a mark, and no records of its owner, if only the apex is answered', () => {
    for (const status of ['pending', 'active'] as const)
      expect(publishApex(own, [record], { served: 'apex', status })).toEqual([...own, markOf(apex)]);
  });
});

const names = (...texts: string[]): Name[] => texts.map((text) => parseName(text));
const FIRST = names('ns1.a.test.', 'ns2.a.test.');
const SECOND = names('ns1.b.test.', 'ns2.b.test.');
const SETS = [FIRST, SECOND];

const selectNameservers = (domain: NameserverChoice, sets: Parameters<typeof nameserverSetsOf>[1]) =>
  nameserverSetsOf(domain, sets)[0];

it('the set that the parent delegates to precedes the owner’s choice, and the canonical one is last', () => {
  expect(selectNameservers({}, SETS)).toBe(FIRST);
  expect(selectNameservers({ chosen: SECOND }, SETS)).toBe(SECOND);
  expect(selectNameservers({ chosen: SECOND, delegated: FIRST }, SETS)).toBe(FIRST);
});

it('a set is recognized in any order and case, and only if it is complete', () => {
  expect(findSet(names('NS2.b.test.', 'ns1.B.test.'), SETS)).toBe(SECOND);
  expect(findSet(names('ns1.b.test.'), SETS)).toBeUndefined();
  expect(findSet(names('ns1.a.test.', 'ns2.b.test.'), SETS)).toBeUndefined();
  expect(findSet([...SECOND, ...names('ns3.b.test.')], SETS)).toBeUndefined();
  expect(selectNameservers({ delegated: names('ns1.a.test.', 'ns2.b.test.') }, SETS)).toBe(FIRST);
});

it('a set that is no longer accepted is not selected', () => {
  expect(selectNameservers({ chosen: SECOND }, [FIRST])).toBe(FIRST);
  expect(selectNameservers({}, [])).toBeUndefined();
});

it('all sets are listed, the domain’s own first', () => {
  expect(nameserverSetsOf({ chosen: SECOND }, SETS)).toEqual([SECOND, FIRST]);
  expect(nameserverSetsOf({}, SETS)).toEqual([FIRST, SECOND]);
});

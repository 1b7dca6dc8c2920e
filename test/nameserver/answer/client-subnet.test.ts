// Answers by region: the effect of the CLIENT-SUBNET option (RFC 7871), and a comparison with the reference.

import { describe, expect, test } from 'vitest';
import { decodeMessage, type MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import {
  COUNTRY_TABLE_BYTES,
  CountryTable,
  countryNumber,
} from '../../../src/nameserver/image/find/country-table.ts';
import { type EdgeSets, idOfSet, type RegionSets, rdataOfSet } from '../../../src/zone/edge-sets.ts';
import { recordsOfZone } from '../../../src/zone/records-of-zone.ts';
import {
  EDGE_MARK_TYPE,
  edgeMarkOf,
  type RecordSet,
  type Zone,
  type ZoneRecord,
} from '../../../src/zone/zone.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { UNLIMITED } from '../../support/answer/queries.ts';
import { answeringNode, ask, udpClient, type WrittenNode } from '../../support/answer/test-node.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey, signSet } from '../../support/dnssec/signing.ts';
import {
  pick,
  type Random,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { thinned } from '../../support/random/signed-zones.ts';
import { findAnswer } from '../../support/reference/find-answer.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { DENIAL_STYLES, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { expectSame } from '../../support/zone/zone-image.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

/** 10.0.0.0/8 and 2000::/4 are in DE, 11.0.0.0/8 and 3000::/4 in US, 12.0.0.0/8 in JP; all others in no country. */
function testCountries(): CountryTable {
  const table = new CountryTable(new SharedArrayBuffer(COUNTRY_TABLE_BYTES));
  const v4: Readonly<Record<number, string>> = { 10: 'DE', 11: 'US', 12: 'JP' };
  const v6: Readonly<Record<number, string>> = { 2: 'DE', 3: 'US' };
  const prefixes = (countries: Readonly<Record<number, string>>, bits: number) =>
    Array.from({ length: 1 << bits }, (_, i) => ({
      high: i << (32 - bits),
      low: 0,
      bits,
      country: countryNumber(countries[i] ?? ''),
    }));
  table.fill(prefixes(v4, 8), prefixes(v6, 4));
  return table;
}

/** DE has both families, US only IPv4; JP is a region without edges. */
const SETS: EdgeSets = {
  version: 1,
  countries: { DE: 'eu', US: 'us', JP: 'asia' },
  regions: [
    { region: 'eu', v4: [['198.51.100.1', '198.51.100.2']], v6: [['2001:db8:e::1']] },
    { region: 'us', v4: [['203.0.113.9']], v6: [] },
  ],
};

function regionalNode(zones: readonly Zone[], sets: EdgeSets | 'none' = SETS): WrittenNode {
  const node = answeringNode(zones, { ...UNLIMITED, countries: testCountries() });
  node.answerer.nowMs = 1_700_000_000_000;
  if (sets !== 'none') node.writer.putEdgeSets(sets);
  return node;
}

const TEXT = `
@ 3600 SOA ns host 1 2 3 4 600
@ 3600 NS ns
@ 60 A 192.0.2.80
@ 60 AAAA 2001:db8::80
ns 300 A 192.0.2.53
shop 30 A 192.0.2.80
www 60 CNAME shop
*.any 45 A 192.0.2.80
@ 300 MX 10 shop
plain 60 A 192.0.2.80
`;
const MARKED = ['example.test.', 'shop.example.test.', '*.any.example.test.'].map((name) => parseName(name));
const APEX = parseName('example.test.');

function markedZone(): Zone {
  return zoneOfRecords(APEX, [...recordsOf(TEXT, 'example.test.'), ...MARKED.map(edgeMarkOf)]);
}

const DE = udpClient(10, 1, 2, 3);
const US = udpClient(11, 1, 2, 3);
const JP = udpClient(12, 1, 2, 3);
const NOWHERE = udpClient(99, 1, 2, 3);
const DE6 = udpClient(0x20, 1, 0xd, 0xb8, ...new Array<number>(12).fill(1));

type Line = Pick<MessageRecord, 'owner' | 'type' | 'ttl' | 'rdata'>;

/** Prints records with names relative to the zone. */
function lines(records: readonly Line[]): string[] {
  return records.map(({ owner, type, ttl, rdata }) => {
    const line = `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
    return line.replaceAll('.example.test.', '').replace('example.test.', '@');
  });
}

const node = regionalNode([markedZone()]);

function asked(name: string, type: number, client = DE, how: Parameters<typeof queryFor>[2] = {}) {
  const full = name === '@' ? 'example.test.' : `${name}.example.test.`;
  const reply = decodeMessage(ask(queryFor(full, type, how), node, client));
  expect(node.failures).toEqual([]);
  return reply;
}

describe('a client without the option', () => {
  test.each(
    rowsOf(`
the set of the region of its address, with the TTL of the name | shop A | DE | shop 30 A 198.51.100.1 / shop 30 A 198.51.100.2
the set of another region | shop A | US | shop 30 A 203.0.113.9
the set of the other family | @ AAAA | DE6 | @ 60 AAAA 2001:db8:e::1
the default if there is no region | shop A | NOWHERE | shop 30 A 192.0.2.80
the default for a region without edges | shop A | JP | shop 30 A 192.0.2.80
the default for a family that its region does not have | @ AAAA | US | @ 60 AAAA 2001:db8::80
nothing for a family that the name does not have | shop AAAA | DE |
the owner's records at a name that is not proxied | plain A | DE | plain 60 A 192.0.2.80
the set of the target of a CNAME | www A | US | www 60 CNAME shop / shop 30 A 203.0.113.9
the set through a wildcard | x.any A | US | x.any 45 A 203.0.113.9
the set for ANY | shop ANY | US | shop 30 A 203.0.113.9`),
  )('gets %s', (_, question = '', client, wanted) => {
    const [name = '', type] = question.split(' ');
    const reply = asked(name, TYPE[type as 'A'], { DE, US, JP, NOWHERE, DE6 }[client as 'DE']);
    expect(lines(reply.answers)).toEqual(itemsOf(wanted));
  });

  test("gets its region's set in addition to MX and over TCP, and never a mark", () => {
    expect(lines(asked('@', TYPE.MX, US).additionals)).toEqual(['shop 30 A 203.0.113.9']);
    const overTcp = asked('shop', TYPE.A, { ...US, transport: 'tcp' });
    expect(lines(overTcp.answers)).toEqual(['shop 30 A 203.0.113.9']);
    const mark = asked('shop', 65535);
    expect([mark.rcode, mark.answers.length, mark.authorities.length]).toEqual([RCODE.NOERROR, 0, 1]);
  });
});

/** Returns family, source prefix length, scope prefix length and address as hex. */
function subnet(family: number, source: number, address: string, scope = 0): string {
  return (
    [family >> 8, family & 255, source, scope].map((octet) => octet.toString(16).padStart(2, '0')).join('') +
    address
  );
}

describe('the CLIENT-SUBNET option', () => {
  const resultOf = (name: string, type: number, option: string, client = NOWHERE) => {
    const reply = asked(name, type, client, { opt: `subnet:${option}` });
    const [echo] = reply.edns?.options.filter(({ code }) => code === 8) ?? [];
    return {
      rcode: reply.rcode,
      rdata: reply.answers.map(({ type: of, rdata }) => printRdata(of, rdata)),
      echo: echo && Buffer.from(echo.value).toString('hex'),
    };
  };

  // Family, source prefix length and address; then the answer and the scope.
  test.each(
    rowsOf(`
a /24 decides | shop A | 1 24 0b0102 | 203.0.113.9 | 8
a /32 decides | shop A | 1 32 0b010203 | 203.0.113.9 | 8
a /8 decides | shop A | 1 8 0b | 203.0.113.9 | 8
fewer bits than the table needs are filled with zeros | shop A | 1 5 08 | 192.0.2.80 | 8
IPv6 also decides for A | shop A | 2 56 30010db8000000 | 203.0.113.9 | 4
IPv6 with all 128 bits | shop A | 2 128 30010db8000000000000000000000001 | 203.0.113.9 | 4
an address without a region has the same scope | shop A | 1 24 630102 | 192.0.2.80 | 8
an answer that does not depend on it has scope 0 | plain A | 1 24 0b0102 | 192.0.2.80 | 0
a missing type has scope 0 | shop TXT | 1 24 0b0102 | | 0`),
  )('%s', (_, question = '', octets = '', rdata, scope) => {
    const [name = '', type] = question.split(' ');
    const [family, source, address = ''] = octets.split(' ');
    const option = subnet(Number(family), Number(source), address);
    const echo = subnet(Number(family), Number(source), address, Number(scope));
    const found = resultOf(name, TYPE[type as 'A' | 'TXT'], option);
    expect(found).toEqual({ rcode: RCODE.NOERROR, rdata: itemsOf(rdata), echo });
  });

  test('requests privacy with a prefix length of 0: the source address decides, and the scope is 0 (§7.1.2)', () => {
    const found = { rcode: RCODE.NOERROR, rdata: ['203.0.113.9'] };
    for (const option of [subnet(1, 0, ''), subnet(2, 0, ''), subnet(0, 0, '')])
      expect(resultOf('shop', TYPE.A, option, US)).toEqual({ ...found, echo: option });
  });

  test.each([
    ['is empty', ''],
    ['is cut short', '000118'],
    ['has an unknown family', subnet(3, 0, '')],
    ['has a prefix longer than an IPv4 address', subnet(1, 33, '0b01020300')],
    ['has a prefix longer than an IPv6 address', subnet(2, 129, '00'.repeat(17))],
    ['has a scope', subnet(1, 24, '0b0102', 24)],
    ['has fewer octets than its prefix needs', subnet(1, 24, '0b01')],
    ['has more octets than its prefix needs', subnet(1, 24, '0b010203')],
    ['has bits after its prefix', subnet(1, 20, '0b01ff')],
    ['has an address without a family', subnet(0, 8, '0b')],
  ])('is FORMERR if it %s', (_, option) => {
    expect(resultOf('shop', TYPE.A, option)).toEqual({ rcode: RCODE.FORMERR, rdata: [], echo: undefined });
  });

  test('is ignored, malformed or not, while no region has edges', () => {
    const plain = regionalNode([markedZone()], 'none');
    for (const option of [subnet(1, 24, '0b0102'), 'ff']) {
      const query = queryFor('shop.example.test.', TYPE.A, { opt: `subnet:${option}` });
      const reply = decodeMessage(ask(query, plain, US));
      expect([reply.rcode, reply.edns?.options]).toEqual([RCODE.NOERROR, []]);
      expect(lines(reply.answers)).toEqual(['shop 30 A 192.0.2.80']);
    }
  });

  test('results in an answer or FORMERR, for any octets', () => {
    const random = randomFrom(7);
    for (let i = 0; i < scale(20_000, 500); i++) {
      const length = Math.floor(random() * (random() < 0.1 ? 60 : 24));
      const octets = Buffer.from(
        Array.from({ length }, () => Math.floor(random() * (random() < 0.5 ? 4 : 256))),
      );
      const { rcode, edns } = asked('shop', TYPE.A, DE, { opt: `subnet:${octets.toString('hex')}` });
      if (rcode === RCODE.FORMERR) continue;
      const [echo] = edns?.options ?? [];
      octets[3] = echo?.value[3] as number;
      if (rcode !== RCODE.NOERROR || !octets.equals(echo?.value ?? octets.subarray(1)))
        expect.unreachable(`${i}`);
    }
  });
});

test('new and removed edge sets change the answers immediately', () => {
  const changing = regionalNode([markedZone()]);
  const changed = () =>
    lines(decodeMessage(ask(queryFor('shop.example.test.', TYPE.A), changing, US)).answers);
  const used: number[] = [];
  for (let i = 1; i <= 200; i++) {
    const regions = [{ region: 'us', v4: [[`203.0.113.${i}`]], v6: [] }];
    changing.writer.putEdgeSets({ version: i, countries: { US: 'us' }, regions });
    expect(changed()).toEqual([`shop 30 A 203.0.113.${i}`]);
    used.push(changing.image.bytesUsed);
  }
  changing.writer.putEdgeSets({ version: 999, countries: {}, regions: [] });
  expect(changed()).toEqual(['shop 30 A 192.0.2.80']);
  expect(Math.max(...used.slice(20))).toBe(used[20]); // the space of replaced sets is reused
});

const KEY = makeKey(15);
const TIME = { inception: 1_690_000_000, expiration: 1_800_000_000 };
const CLIENTS = { eu: DE, us: US, none: NOWHERE } as const;

/** Adds marks to names with addresses, most of them with signatures over the regions' sets. */
function marked(zone: Zone, sets: EdgeSets, random: Random, isSigned: boolean): Zone {
  const records = [...recordsOfZone(zone)];
  const signed = isSigned
    ? signRecords(zone.apex, records, { key: KEY, time: TIME, denial: pick(random, DENIAL_STYLES) })
    : records;
  const marks: ZoneRecord[] = [];
  for (const node of zone.nodes.values()) {
    const own = [TYPE.A, TYPE.AAAA].map((type) => node.sets.get(type)).filter((set) => set !== undefined);
    if (own.length === 0 || random() < 0.2) continue;
    marks.push(edgeMarkOf(node.name));
    for (const set of isSigned ? own : []) marks.push(...signatureMarks(zone.apex, set, sets, random));
  }
  return zoneOfRecords(zone.apex, [...signed, ...marks]);
}

function signatureMarks(
  apex: Name,
  { owner, type, ttl }: RecordSet,
  { regions }: EdgeSets,
  random: Random,
): ZoneRecord[] {
  const lists = regions.flatMap(({ v4, v6 }) => (type === TYPE.A ? v4 : v6));
  return lists.flatMap((addresses) => {
    const fate = random();
    if (fate < 0.3) return [];
    const rdata = rdataOfSet(type, addresses);
    const time = fate < 0.4 ? { inception: 1_600_000_000, expiration: 1_699_999_999 } : TIME;
    const key = fate > 0.95 ? OTHER_KEY : KEY;
    const signature = signSet({ owner, type, ttl: fate > 0.9 ? ttl + 1 : ttl, rdata }, key, {
      zone: apex,
      time,
    });
    return [{ ...edgeMarkOf(owner), rdata: Uint8Array.from([...idOfSet(type, rdata), ...signature]) }];
  });
}

const OTHER_KEY = makeKey(15);

const APEXES = ['r.test.', 'c.r.test.', 's.test.', '.'];
const DNSSEC_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM, TYPE.DNSKEY];

const RANDOM_SETS: EdgeSets = {
  version: 1,
  countries: { DE: 'eu', US: 'us' },
  regions: [
    {
      region: 'eu',
      v4: [['198.51.100.1', '198.51.100.2'], ['198.51.100.3']],
      v6: [['2001:db8:e::1'], ['2001:db8:e::2']],
    },
    { region: 'us', v4: [['203.0.113.9']], v6: [] },
  ],
};

function recordsIn(sets: readonly RecordSet[]): Line[] {
  return sets.flatMap(({ signatures = [], ...set }) => [
    ...set.rdata.map((rdata) => ({ ...set, rdata })),
    ...signatures.map((rdata) => ({ ...set, type: TYPE.RRSIG, rdata })),
  ]);
}

function hexLines(records: readonly Line[]): string[] {
  return records.map(
    ({ owner, type, ttl, rdata }) =>
      `${printName(foldCase(owner))} ${ttl} ${typeMnemonic(type)} ${Buffer.from(rdata).toString('hex')}`,
  );
}

describe.each([
  ['zones without signatures', false],
  ['signed zones', true],
])('in %s', (_, isSigned) => {
  test('answers equal those of the reference for every region', () => {
    const random = randomFrom(isSigned ? 21 : 20);
    const kinds = new Set<string>();
    let regional = 0;
    for (let round = 0; round < scale(120, 4); round++) {
      const served = APEXES.slice(0, 1 + Math.floor(random() * APEXES.length));
      const zones = served.map((apex) => {
        const others = served.filter((other) => other !== apex);
        const { zone: plain } = randomZone(random, apex, 2 + round * 2, others);
        const zone = marked(plain, RANDOM_SETS, random, isSigned);
        const left =
          isSigned && random() < 0.3 ? thinned(random, [...recordsOfZone(zone)], DNSSEC_TYPES) : [];
        const damaged = left.length > 0 ? zoneOfRecords(zone.apex, left) : zone;
        const chance = random();
        if (chance < 0.05) return { ...damaged, expired: chance < 0.03, isPrivate: chance >= 0.03 };
        return random() < 0.05 ? { ...damaged, marked: new Set([zone.apex]) } : damaged;
      });
      const asked = regionalNode(zones, RANDOM_SETS);
      for (let i = 0; i < scale(700, 120); i++) {
        const zone = pick(random, zones);
        const names = [...zone.nodes.keys()];
        const proxied = names.filter((name) => zone.nodes.get(name)?.sets.has(EDGE_MARK_TYPE));
        const question = randomQuestion(random, zone, names);
        const name = random() < 0.5 && proxied.length > 0 ? pick(random, proxied) : question.name;
        const more = isSigned ? DNSSEC_TYPES : [TYPE.DS];
        const type = random() < 0.5 ? pick(random, [TYPE.A, TYPE.AAAA, TYPE.ANY, ...more]) : question.type;
        const where = pick(random, ['eu', 'us', 'none'] as const);
        const { kind, isRegional } = compare(asked, zones, { name, type, where, dnssecOk: random() < 0.7 });
        kinds.add(kind);
        if (isRegional) regional++;
      }
    }
    expect(regional).toBeGreaterThan(12);
    expect([...kinds].sort()).toEqual(expect.arrayContaining(['answer', 'nodata', 'nxdomain', 'referral']));
  });
});

interface Compared {
  readonly name: Name;
  readonly type: number;
  readonly where: keyof typeof CLIENTS;
  readonly dnssecOk: boolean;
}

/** Queries over TCP, and returns the result. */
function compare(asked: WrittenNode, zones: readonly Zone[], { name, type, where, dnssecOk }: Compared) {
  const region: RegionSets | undefined = RANDOM_SETS.regions.find((one) => one.region === where);
  const wanted = findAnswer(zonesOf(...zones), foldCase(name), type, {
    dnssecOk,
    asker: { region, at: 1_700_000_000 },
  });
  const query = queryFor(printName(name), type, { opt: dnssecOk ? 'do' : '' });
  const reply = decodeMessage(ask(query, asked, { ...CLIENTS[where], transport: 'tcp' }));
  const title = `${printName(name)} ${typeMnemonic(type)} ${where}`;
  const sections = [reply.answers, reply.authorities, reply.additionals].map(hexLines);
  const sets = [wanted.answer, wanted.authority, [...wanted.glue, ...wanted.additional]];
  const found = [title, wanted.rcode, wanted.authoritative, false];
  expectSame(
    [title, reply.rcode, reply.aa, reply.tc, ...sections],
    [...found, ...sets.map((section) => hexLines(recordsIn(section)))],
  );
  expectSame(asked.failures, []);
  const addresses = new Set(RANDOM_SETS.regions.flatMap(({ v4, v6 }) => [...v4, ...v6].flat()));
  const isRegional = ({ type: of, rdata }: Line) =>
    (of === TYPE.A || of === TYPE.AAAA) && addresses.has(printRdata(of, rdata));
  return { kind: wanted.kind, isRegional: reply.answers.some(isRegional) };
}

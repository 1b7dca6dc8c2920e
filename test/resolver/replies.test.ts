import { describe, expect, it } from 'vitest';
import type { Message, MessageRecord } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { printName } from '../../src/dns/name.ts';
import { CLASS, TYPE, typeCode, typeMnemonic } from '../../src/dns/type-codes.ts';
import { type ClassifiedReply, classifyReply } from '../../src/resolver/replies/classify-reply.ts';
import { glueSets } from '../../src/resolver/replies/glue-sets.ts';
import { ScannedRecords } from '../../src/resolver/replies/scanned-records.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { name, reply } from '../support/world/zone-exchange.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const SOA = 'SOA ns.nic.com. admin.nic.com. 1 2 3 4 300';
const DS = `DS 1 8 2 ${'00'.repeat(32)}`;

const recordsIn = (cell?: string): MessageRecord[] =>
  recordsOf(itemsOf(cell).join('\n')).map((record) => ({ ...record, class: CLASS.IN }));

/** `head` has AA, TC and the RCODE. The other cells list records. */
function messageOf([head = '', answer, authority, additional]: readonly string[]): Message {
  const words = head.split(' ');
  const rcode = words.find((word) => word in RCODE) as keyof typeof RCODE | undefined;
  return reply({
    aa: words.includes('AA'),
    tc: words.includes('TC'),
    rcode: RCODE[rcode ?? 'NOERROR'],
    answers: recordsIn(answer),
    authorities: recordsIn(authority),
    additionals: recordsIn(additional),
  });
}

/** By default, the servers of com. were asked for the NS set of example.com. */
function classify(message: Message, { qname = 'example.com.', type = 'NS', zone = 'com.' } = {}): string {
  const question = { name: name(qname), type: typeCode(type) as number };
  return print(classifyReply(message, question, name(zone)), question.type);
}

function print(reading: ClassifiedReply, type: number): string {
  const ttl = 'ttl' in reading ? ` ${reading.ttl}` : '';
  const glue = 'glue' in reading ? reading.glue.map((one) => ` ${printName(one.name)}=${one.address}`) : [];
  switch (reading.kind) {
    case 'referral': {
      const ds = reading.ds.length > 0 ? ` ds=${reading.ds.length}` : '';
      return `referral ${printName(reading.cut)}${ttl} to ${reading.ns.map(printName).join(' ')}${ds}${glue.join('')}`;
    }
    case 'answer':
      return `answer${ttl} ${reading.rdata.length}${type === TYPE.NS ? ' NS' : ''}${glue.join('')}`;
    case 'alias':
      return `alias${ttl} ${reading.target === undefined ? '?' : printName(reading.target)}`;
    case 'nodata':
    case 'nxdomain':
      return `${reading.kind}${ttl} by ${printName(reading.soa)}`;
    case 'lame':
    case 'bad':
      return `${reading.kind}: ${reading.error}`;
    default:
      return reading.kind;
  }
}

/** What the reply does | AA and RCODE | answer | authority | additional | its classification. */
const ABOUT_NS = rowsOf(`
refers to the domain | | | example.com. 600 NS b.net. / example.com. 600 NS a.net. | | referral example.com. 600 to a.net. b.net.
refers with a DS set | | | example.com. 600 NS a.net. / example.com. 60 ${DS} | | referral example.com. 600 to a.net. ds=1
refers with the DS of another name | | | example.com. 600 NS a.net. / other.com. 60 ${DS} | | referral example.com. 600 to a.net.
refers with glue of both families | | | example.com. 600 NS ns.example.com. | ns.example.com. 60 A 1.2.3.4 / ns.example.com. 60 AAAA 2600::1 | referral example.com. 600 to ns.example.com. ns.example.com.=1.2.3.4 ns.example.com.=2600::1
gives sibling glue | | | example.com. 600 NS ns.other.com. | ns.other.com. 60 A 1.2.3.4 | referral example.com. 600 to ns.other.com. ns.other.com.=1.2.3.4
gives addresses outside its zone | | | example.com. 600 NS ns.other.net. | ns.other.net. 60 A 1.2.3.4 | referral example.com. 600 to ns.other.net.
gives addresses of other names | | | example.com. 600 NS ns.other.com. | www.other.com. 60 A 1.2.3.4 | referral example.com. 600 to ns.other.com.
refers to the root | | | . 600 NS a.root. | | lame: it refers upwards to .
refers to its own zone | | | com. 600 NS a.gtld. | | lame: it refers upwards to com.
refers to a sibling | | | other.com. 600 NS a.net. | | lame: neither the AA bit nor a referral
refers to a name below the one asked for | | | a.example.com. 600 NS a.net. | | lame: neither the AA bit nor a referral
refers to the domain and has NS sets of other owners | | | example.com. 600 NS a.net. / other.com. 600 NS b.net. / . 600 NS c.root. | | referral example.com. 600 to a.net.
is empty | | | | | lame: neither the AA bit nor a referral
refers with AA | AA | | example.com. 600 NS a.net. | | referral example.com. 600 to a.net.
refers with AA and a SOA | AA | | example.com. 600 NS a.net. / com. 600 ${SOA} | | nodata 300 by com.
refers to its own zone with AA | AA | | com. 600 NS a.gtld. | | lame: no data without an SOA
refers upwards with AA | AA | | . 600 NS a.root. | | lame: no data without an SOA
refers with AA and NXDOMAIN | AA NXDOMAIN | | example.com. 600 NS a.net. | | lame: NXDOMAIN without an SOA
answers from the child zone | AA | example.com. 600 NS a.net. / example.com. 600 NS b.net. | | | answer 600 2 NS
answers with addresses | AA | example.com. 600 NS a.com. / example.com. 600 NS b.net. | | a.com. 60 A 1.2.3.4 / b.net. 60 A 1.2.3.5 | answer 600 2 NS a.com.=1.2.3.4
answers from a cache | | example.com. 600 NS a.net. | | | lame: its answer lacks the AA bit
answers for another name | AA | other.com. 600 NS a.net. | | | lame: no data without an SOA
has no data | AA | | com. 600 ${SOA} | | nodata 300 by com.
has no data, for the TTL of the SOA | AA | | com. 60 ${SOA} | | nodata 60 by com.
denies the name | AA NXDOMAIN | | com. 600 ${SOA} | | nxdomain 300 by com.
denies the name without AA | NXDOMAIN | | com. 600 ${SOA} | | lame: NXDOMAIN without the AA bit
denies the name without a SOA | AA NXDOMAIN | | | | lame: NXDOMAIN without an SOA
denies the name with the SOA of the root | AA NXDOMAIN | | . 600 ${SOA} | | lame: NXDOMAIN with the SOA of .
has no data, with the SOA of a sibling | AA | | other.com. 600 ${SOA} | | lame: no data with the SOA of other.com.
has no data, with the SOA of the child | AA | | example.com. 600 ${SOA} | | nodata 300 by example.com.
has no data and no AA | | | com. 600 ${SOA} | | lame: neither the AA bit nor a referral
is an alias | AA | example.com. 600 CNAME a.net. | | | alias 600 a.net.
is an alias of a missing name | AA NXDOMAIN | example.com. 600 CNAME a.com. | com. 600 ${SOA} | | alias 600 a.com.
is an alias from a cache | | example.com. 600 CNAME a.net. | | | lame: its answer lacks the AA bit
is below a DNAME | AA | com. 600 DNAME net. / example.com. 600 CNAME example.net. | | | alias 600 example.net.
is below a DNAME, without the CNAME | AA | com. 600 DNAME net. | | | alias 600 example.net.
is below a DNAME that makes it too long | AA YXDOMAIN | com. 600 DNAME net. | | | alias 600 ?
is below a DNAME outside of the zone | AA | . 600 DNAME net. | | | lame: no data without an SOA
is refused | REFUSED | | | | refused
is SERVFAIL | SERVFAIL | | | | servfail
has another RCODE | AA NOTIMP | | | | bad: NOTIMP
is an answer with NXDOMAIN | AA NXDOMAIN | example.com. 600 NS a.net. | | | bad: an answer with NXDOMAIN
is cut short | AA TC | example.com. 600 NS a.net. | | | bad: the reply is truncated over TCP as well`);

it.each(ABOUT_NS)('a reply about the NS set of example.com. that %s', (_, ...cells) => {
  expect(classify(messageOf(cells))).toBe(cells[4]);
});

/** The query | the contents of the reply | … as above. */
const OTHERS = rowsOf(`
a.b.example.com. NS com. | a referral to a cut in between | | | example.com. 600 NS a.net. | | referral example.com. 600 to a.net.
a.b.example.com. NS com. | referrals to two cuts | | | example.com. 600 NS a.net. / b.example.com. 600 NS a.net. | | bad: it refers to two zones
a.b.example.com. NS com. | NXDOMAIN from a zone in between | AA NXDOMAIN | | b.example.com. 600 ${SOA} | | nxdomain 300 by b.example.com.
ns.example.com. A com. | addresses of several names | AA | ns.example.com. 60 A 1.2.3.4 / ns.example.com. 60 A 1.2.3.5 / x.com. 60 A 1.2.3.6 | | | answer 60 2
ns.example.com. A com. | an alias and its target | AA | ns.example.com. 60 CNAME x.com. / x.com. 60 A 1.2.3.6 | | | alias 60 x.com.
com. NS . | glue outside the cut, from the root | | | com. 600 NS a.gtld.net. | a.gtld.net. 60 A 1.2.3.4 | referral com. 600 to a.gtld.net. a.gtld.net.=1.2.3.4`);

it.each(OTHERS)('a reply to %s with %s', (query, _, ...cells) => {
  const [qname, type, zone] = query.split(' ') as [string, string, string];
  expect(classify(messageOf(cells), { qname, type, zone })).toBe(cells[4]);
});

it('a TTL with its highest bit set is 0 (RFC 2181 §8)', () => {
  const message = messageOf(['', '', 'example.com. 600 NS a.net.']);
  const authorities = message.authorities.map((record) => ({ ...record, ttl: 2 ** 31 }));
  expect(classify({ ...message, authorities })).toBe('referral example.com. 0 to a.net.');
});

it('a set of more than 256 records is bad', () => {
  const set = (count: number, rdata: string) =>
    Array.from({ length: count }, (_, i) => `example.com. 60 ${rdata.replace('#', String(i))}`).join(' / ');
  const [txt, ns] = ['TXT t#', 'NS n#.net.'];
  const bad = 'bad: a set of 257 records';
  expect(classify(messageOf(['AA', set(257, txt)]), { type: 'TXT' })).toBe(bad);
  expect(classify(messageOf(['AA', set(256, txt)]), { type: 'TXT' })).toMatch(/^answer/);
  expect(classify(messageOf(['', '', set(257, ns)]))).toBe(bad);
  expect(classify(messageOf(['AA', set(257, ns)]))).toBe(bad);
  expect(classify(messageOf(['', '', set(256, ns)]))).toMatch(/^referral/);
});

describe('names in a reply', () => {
  const upper = (record: MessageRecord): MessageRecord => ({
    ...record,
    owner: record.owner.toUpperCase() as MessageRecord['owner'],
    rdata:
      record.type === TYPE.NS
        ? Buffer.from(Buffer.from(record.rdata).toString('latin1').toUpperCase(), 'latin1')
        : record.rdata,
  });

  it('are compared in any case, and returned in lower case without duplicates', () => {
    const message = messageOf(['', '', 'example.com. 600 NS a.example.com.', 'a.example.com. 600 A 1.2.3.4']);
    const shouted = {
      ...message,
      authorities: [...message.authorities, ...message.authorities.map(upper)],
      additionals: message.additionals.map(upper),
    };
    expect(classify(shouted)).toBe('referral example.com. 600 to a.example.com. a.example.com.=1.2.3.4');
  });

  it('are ignored if the rdata is empty or the class is not IN', () => {
    const record = { owner: name('example.com.'), type: TYPE.NS, class: CLASS.IN, ttl: 1 };
    const empty = new Uint8Array();
    const [ns] = recordsIn('example.com. 600 NS a.net.') as [MessageRecord];
    const message = reply({
      authorities: [
        { ...record, rdata: empty },
        { ...ns, class: CLASS.CH },
      ],
      additionals: [{ ...record, type: TYPE.A, rdata: empty }],
    });
    expect(classify(message)).toBe('lame: neither the AA bit nor a referral');
    const soa = reply({ aa: true, authorities: [{ ...record, type: TYPE.SOA, rdata: empty }] });
    expect(classify(soa)).toMatch(/^lame/);
  });
});

const CUT = name('dev.shop.com');
const NS = [name('ns1.dev.shop.com'), name('ns2.dev.shop.com'), name('ns.host.net')];

function sets(glue: readonly (readonly [string, string])[]): string[] {
  const all = glue.map(([owner, address], ttl) => ({ name: name(owner), address, ttl: 60 + ttl }));
  return glueSets(CUT, NS, all).map(
    ({ name: owner, type, ttl, rdata }) => `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${rdata.length}`,
  );
}

it('addresses of nameservers inside the zone form sets by type', () => {
  expect(
    sets([
      ['ns1.dev.shop.com', '5.6.7.1'],
      ['ns1.dev.shop.com', '2606::1'],
      ['ns1.dev.shop.com', '5.6.7.2'],
      ['ns.host.net', '5.6.7.3'],
      ['www.dev.shop.com', '5.6.7.4'],
    ]),
  ).toEqual(['ns1.dev.shop.com. 60 A 2', 'ns1.dev.shop.com. 61 AAAA 1']);
});

it('a set that is only meant to cause work is ignored', () => {
  const many = Array.from(
    { length: 257 },
    (_, i) => ['ns1.dev.shop.com', `5.6.${i >> 8}.${i & 255}`] as const,
  );
  expect(sets(many.slice(1))).toEqual(['ns1.dev.shop.com. 60 A 256']);
  expect(sets(many)).toEqual([]);
});

const A = (count: number, octets = 4) => Array.from({ length: count }, () => new Uint8Array(octets));

/** `www 2`: number of records at each name. */
function listed(records: ScannedRecords): string[] {
  const counts = new Map<string, number>();
  for (const each of records.list()) {
    const label = printName(each.name).replace('.shop.com.', '');
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].map(([label, count]) => `${label} ${count}`);
}

it('sets that exceed the limits of a scan are omitted completely', () => {
  const records = new ScannedRecords(name('shop.com'), { records: 5, octets: 100 });
  records.add(name('a.shop.com'), TYPE.A, 60, A(3));
  records.add(name('b.shop.com'), TYPE.A, 60, A(3));
  records.add(name('c.shop.com'), TYPE.A, 60, A(1, 89));
  records.add(name('d.shop.com'), TYPE.A, 60, A(2));
  expect(listed(records)).toEqual(['a 3', 'd 2']);
  expect([records.count, records.left]).toEqual([5, 4]);
});

it('removed records free capacity', () => {
  const records = new ScannedRecords(name('shop.com'), { records: 4, octets: 16 });
  records.add(name('x.a.shop.com'), TYPE.A, 60, A(4));
  records.cutOff(name('a.shop.com'), [{ name: name('a.shop.com'), type: TYPE.NS, ttl: 60, rdata: A(1) }]);
  records.add(name('x.b.shop.com'), TYPE.A, 60, A(3));
  records.endBelow(name('b.shop.com'), { ttl: 60, rdata: A(1) as [Uint8Array] });
  records.add(name('c.shop.com'), TYPE.A, 60, A(2));
  expect(listed(records)).toEqual(['a 1', 'b 1', 'c 2']);
  expect(records.left).toBe(0);
});

it('the default limits are 10,000 records and 4 MiB', () => {
  const many = new ScannedRecords(name('shop.com'));
  for (let i = 0; i < 50; i++) many.add(name(`h${i}.shop.com`), TYPE.A, 60, A(250));
  expect([many.count, many.left]).toEqual([10_000, 2500]);
  const large = new ScannedRecords(name('shop.com'));
  for (let i = 0; i < 5; i++) large.add(name(`h${i}.shop.com`), TYPE.TXT, 60, A(1, 1 << 20));
  expect([large.count, large.left]).toEqual([4, 1]);
});

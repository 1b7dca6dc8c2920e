import { describe, expect, it } from 'vitest';
import type { Message, MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { CLASS, TYPE, typeCode } from '../../../src/dns/type-codes.ts';
import { type ClassifiedReply, classifyReply } from '../../../src/resolver/replies/classify-reply.ts';
import { name, reply } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const SOA = 'SOA ns.nic.com. admin.nic.com. 1 2 3 4 300';

interface Case {
  /** AA and the rcode, as in `AA NXDOMAIN`. */
  readonly head?: string;
  readonly answer?: string;
  readonly authority?: string;
  readonly additional?: string;
}

function records(text: string | undefined): MessageRecord[] {
  return recordsOf(text ?? '').map((record) => ({ ...record, class: CLASS.IN }));
}

function messageOf({ head = '', answer, authority, additional }: Case): Message {
  const words = head.split(' ').filter((word) => word !== '');
  const rcode = words.find((word) => word in RCODE) as keyof typeof RCODE | undefined;
  return reply({
    aa: words.includes('AA'),
    tc: words.includes('TC'),
    rcode: RCODE[rcode ?? 'NOERROR'],
    answers: records(answer),
    authorities: records(authority),
    additionals: records(additional),
  });
}

/** The servers of com. were asked for the NS of example.com. unless said otherwise. */
function read(what: Case, { qname = 'example.com.', type = 'NS', zone = 'com.' } = {}): string {
  const question = { name: name(qname), type: typeCode(type) as number };
  return print(classifyReply(messageOf(what), question, name(zone)), question.type);
}

function print(reading: ClassifiedReply, type: number): string {
  const ttl = 'ttl' in reading ? ` ${reading.ttl}` : '';
  switch (reading.kind) {
    case 'referral': {
      const glue = reading.glue.map((one) => ` ${printName(one.name)}=${one.address}`).join('');
      const ds = reading.ds.length > 0 ? ` ds=${reading.ds.length}` : '';
      return `referral ${printName(reading.cut)}${ttl} to ${reading.ns.map(printName).join(' ')}${ds}${glue}`;
    }
    case 'answer': {
      const glue = reading.glue.map((one) => ` ${printName(one.name)}=${one.address}`).join('');
      return `answer${ttl} ${reading.rdata.length} ${type === TYPE.NS ? 'NS' : ''}${glue}`.trimEnd();
    }
    case 'alias':
      return `alias${ttl} ${reading.target === undefined ? '?' : printName(reading.target)}`;
    case 'nodata':
    case 'nxdomain':
      return `${reading.kind}${ttl} by ${printName(reading.soa)}`;
    case 'lame':
    case 'bad':
      return `${reading.kind}: ${reading.error}`;
    case 'refused':
    case 'servfail':
    case 'timeout':
      return reading.kind;
  }
}

describe('a reply of the servers of com. about the NS of example.com.', () => {
  it.each<[string, Case, string]>([
    [
      'refers to the domain',
      { authority: 'example.com. 600 NS b.net.\nexample.com. 600 NS a.net.' },
      'referral example.com. 600 to a.net. b.net.',
    ],
    [
      'refers with DS beside it',
      { authority: `example.com. 600 NS a.net.\nexample.com. 60 DS 1 8 2 ${'00'.repeat(32)}` },
      'referral example.com. 600 to a.net. ds=1',
    ],
    [
      'refers, and a DS of another name is not the domain’s',
      { authority: `example.com. 600 NS a.net.\nother.com. 60 DS 1 8 2 ${'00'.repeat(32)}` },
      'referral example.com. 600 to a.net.',
    ],
    [
      'refers with glue, of both families',
      {
        authority: 'example.com. 600 NS ns.example.com.',
        additional: 'ns.example.com. 60 A 1.2.3.4\nns.example.com. 60 AAAA 2600::1',
      },
      'referral example.com. 600 to ns.example.com. ns.example.com.=1.2.3.4 ns.example.com.=2600::1',
    ],
    [
      'may give sibling glue',
      { authority: 'example.com. 600 NS ns.other.com.', additional: 'ns.other.com. 60 A 1.2.3.4' },
      'referral example.com. 600 to ns.other.com. ns.other.com.=1.2.3.4',
    ],
    [
      'has no right to addresses outside its zone',
      { authority: 'example.com. 600 NS ns.other.net.', additional: 'ns.other.net. 60 A 1.2.3.4' },
      'referral example.com. 600 to ns.other.net.',
    ],
    [
      'gives addresses of nobody who was named: they are nothing',
      { authority: 'example.com. 600 NS ns.other.com.', additional: 'www.other.com. 60 A 1.2.3.4' },
      'referral example.com. 600 to ns.other.com.',
    ],
    ['refers to the root', { authority: '. 600 NS a.root.' }, 'lame: it refers up to .'],
    ['refers to itself', { authority: 'com. 600 NS a.gtld.' }, 'lame: it refers up to com.'],
    ['refers to a sibling', { authority: 'other.com. 600 NS a.net.' }, 'lame: neither AA nor a referral'],
    [
      'refers to a name below the one asked for',
      { authority: 'a.example.com. 600 NS a.net.' },
      'lame: neither AA nor a referral',
    ],
    [
      'refers to the domain, and a set of another owner is no part of it',
      { authority: 'example.com. 600 NS a.net.\nother.com. 600 NS b.net.\n. 600 NS c.root.' },
      'referral example.com. 600 to a.net.',
    ],
    ['says nothing at all', {}, 'lame: neither AA nor a referral'],
    [
      'refers with AA',
      { head: 'AA', authority: 'example.com. 600 NS a.net.' },
      'referral example.com. 600 to a.net.',
    ],
    [
      'refers with AA, and a SOA beside it',
      { head: 'AA', authority: `example.com. 600 NS a.net.\ncom. 600 ${SOA}` },
      'nodata 300 by com.',
    ],
    [
      'refers to itself with AA',
      { head: 'AA', authority: 'com. 600 NS a.gtld.' },
      'lame: it says no data without a SOA',
    ],
    [
      'refers upwards with AA',
      { head: 'AA', authority: '. 600 NS a.root.' },
      'lame: it says no data without a SOA',
    ],
    [
      'refers with AA and denies the name',
      { head: 'AA NXDOMAIN', authority: 'example.com. 600 NS a.net.' },
      'lame: it says NXDOMAIN without a SOA',
    ],
    [
      'answers from the child that it holds too',
      { head: 'AA', answer: 'example.com. 600 NS a.net.\nexample.com. 600 NS b.net.' },
      'answer 600 2 NS',
    ],
    [
      'answers with addresses',
      {
        head: 'AA',
        answer: 'example.com. 600 NS a.com.\nexample.com. 600 NS b.net.',
        additional: 'a.com. 60 A 1.2.3.4\nb.net. 60 A 1.2.3.5',
      },
      'answer 600 2 NS a.com.=1.2.3.4',
    ],
    ['answers from a cache', { answer: 'example.com. 600 NS a.net.' }, 'lame: it answers without AA'],
    [
      'answers for another name',
      { head: 'AA', answer: 'other.com. 600 NS a.net.' },
      'lame: it says no data without a SOA',
    ],
    ['has no data', { head: 'AA', authority: `com. 600 ${SOA}` }, 'nodata 300 by com.'],
    ['has no data, for the SOA’s own TTL', { head: 'AA', authority: `com. 60 ${SOA}` }, 'nodata 60 by com.'],
    ['has nothing', { head: 'AA NXDOMAIN', authority: `com. 600 ${SOA}` }, 'nxdomain 300 by com.'],
    [
      'has nothing, without AA',
      { head: 'NXDOMAIN', authority: `com. 600 ${SOA}` },
      'lame: it says NXDOMAIN without AA',
    ],
    ['has nothing, without a SOA', { head: 'AA NXDOMAIN' }, 'lame: it says NXDOMAIN without a SOA'],
    [
      'has nothing, by the root’s word',
      { head: 'AA NXDOMAIN', authority: `. 600 ${SOA}` },
      'lame: it says NXDOMAIN with the SOA of .',
    ],
    [
      'has no data, by the word of a sibling',
      { head: 'AA', authority: `other.com. 600 ${SOA}` },
      'lame: it says no data with the SOA of other.com.',
    ],
    [
      'has no data in the child that it holds too',
      { head: 'AA', authority: `example.com. 600 ${SOA}` },
      'nodata 300 by example.com.',
    ],
    ['has no data and does not say so', { authority: `com. 600 ${SOA}` }, 'lame: neither AA nor a referral'],
    ['is an alias', { head: 'AA', answer: 'example.com. 600 CNAME a.net.' }, 'alias 600 a.net.'],
    [
      'is an alias of nothing',
      { head: 'AA NXDOMAIN', answer: 'example.com. 600 CNAME a.com.', authority: `com. 600 ${SOA}` },
      'alias 600 a.com.',
    ],
    ['is an alias in a cache', { answer: 'example.com. 600 CNAME a.net.' }, 'lame: it answers without AA'],
    [
      'is below a DNAME',
      { head: 'AA', answer: 'com. 600 DNAME net.\nexample.com. 600 CNAME example.net.' },
      'alias 600 example.net.',
    ],
    [
      'is below a DNAME without the CNAME that it makes',
      { head: 'AA', answer: 'com. 600 DNAME net.' },
      'alias 600 example.net.',
    ],
    [
      'is below a DNAME that makes it too long',
      { head: 'AA YXDOMAIN', answer: 'com. 600 DNAME net.' },
      'alias 600 ?',
    ],
    [
      'is below a DNAME outside of the zone',
      { head: 'AA', answer: '. 600 DNAME net.' },
      'lame: it says no data without a SOA',
    ],
    ['is refused', { head: 'REFUSED' }, 'refused'],
    ['is SERVFAIL', { head: 'SERVFAIL' }, 'servfail'],
    ['is another rcode', { head: 'AA NOTIMP' }, 'bad: NOTIMP'],
    [
      'is an answer and none',
      { head: 'AA NXDOMAIN', answer: 'example.com. 600 NS a.net.' },
      'bad: an answer with NXDOMAIN',
    ],
    [
      'is cut short',
      { head: 'AA TC', answer: 'example.com. 600 NS a.net.' },
      'bad: the reply is cut short over TCP too',
    ],
  ])('%s', (_sentence, what, expected) => {
    expect(read(what)).toBe(expected);
  });
});

describe('a reply about a longer name', () => {
  const asked = { qname: 'a.b.example.com.' };

  it('may refer to any cut between', () => {
    const authority = 'example.com. 600 NS a.net.';
    expect(read({ authority }, asked)).toBe('referral example.com. 600 to a.net.');
  });

  it('that refers to two cuts at once is not to be used', () => {
    const authority = 'example.com. 600 NS a.net.\nb.example.com. 600 NS a.net.';
    expect(read({ authority }, asked)).toBe('bad: it refers to two zones at once');
  });

  it('may come from a zone between that the server holds', () => {
    const authority = `b.example.com. 600 ${SOA}`;
    expect(read({ head: 'AA NXDOMAIN', authority }, asked)).toBe('nxdomain 300 by b.example.com.');
  });
});

describe('a reply about addresses', () => {
  it('has those of the name alone', () => {
    const answer = 'ns.example.com. 60 A 1.2.3.4\nns.example.com. 60 A 1.2.3.5\nx.com. 60 A 1.2.3.6';
    expect(read({ head: 'AA', answer }, { qname: 'ns.example.com.', type: 'A' })).toBe('answer 60 2');
  });

  it('follows no alias by itself', () => {
    const answer = 'ns.example.com. 60 CNAME x.com.\nx.com. 60 A 1.2.3.6';
    expect(read({ head: 'AA', answer }, { qname: 'ns.example.com.', type: 'A' })).toBe('alias 60 x.com.');
  });
});

describe('a reply of the root', () => {
  it('may refer to any name, with glue for all of them', () => {
    const what = { authority: 'com. 600 NS a.gtld.net.', additional: 'a.gtld.net. 60 A 1.2.3.4' };
    expect(read(what, { qname: 'com.', zone: '.' })).toBe(
      'referral com. 600 to a.gtld.net. a.gtld.net.=1.2.3.4',
    );
  });
});

describe('a TTL with its highest bit set', () => {
  it('is 0', () => {
    const message = messageOf({ authority: 'example.com. 600 NS a.net.' }); // RFC 2181 §8
    const authorities = message.authorities.map((record) => ({ ...record, ttl: 2 ** 31 }));
    const question = { name: name('example.com.'), type: TYPE.NS };
    const reading = classifyReply({ ...message, authorities }, question, name('com.'));
    expect(print(reading, TYPE.NS)).toBe('referral example.com. 0 to a.net.');
  });
});

describe('a set that nobody needs', () => {
  it('of TXT records is not taken: whoever compares them would be busy for long', () => {
    const texts = (count: number) =>
      Array.from({ length: count }, (_, i) => `example.com. 60 TXT t${i}`).join('\n');
    expect(read({ head: 'AA', answer: texts(257) }, { type: 'TXT' })).toBe('bad: a set of 257 records');
    expect(read({ head: 'AA', answer: texts(256) }, { type: 'TXT' })).toMatch(/^answer/);
  });

  it('of nameservers is not taken', () => {
    const names = (count: number) =>
      Array.from({ length: count }, (_, i) => `example.com. 60 NS n${i}.net.`).join('\n');
    expect(read({ authority: names(257) })).toBe('bad: a set of 257 records');
    expect(read({ head: 'AA', answer: names(257) })).toBe('bad: a set of 257 records');
    expect(read({ authority: names(256) })).toMatch(/^referral/);
  });
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

  it('are the same in any case, and come out in lower case without doubles', () => {
    const message = messageOf({
      authority: 'example.com. 600 NS a.example.com.',
      additional: 'a.example.com. 600 A 1.2.3.4',
    });
    const shouted = {
      ...message,
      authorities: [...message.authorities, ...message.authorities.map(upper)],
      additionals: message.additionals.map(upper),
    };
    const reading = classifyReply(shouted, { name: name('example.com.'), type: TYPE.NS }, name('com.'));
    expect(print(reading, TYPE.NS)).toBe(
      'referral example.com. 600 to a.example.com. a.example.com.=1.2.3.4',
    );
  });

  it('are no names where the rdata is empty or the class another', () => {
    const record = { owner: name('example.com.'), type: TYPE.NS, class: CLASS.IN, ttl: 1 };
    const ns = records('example.com. 600 NS a.net.')[0] as MessageRecord;
    const message = reply({
      authorities: [
        { ...record, rdata: new Uint8Array() },
        { ...ns, class: CLASS.CH },
      ],
      additionals: [{ ...record, type: TYPE.A, rdata: new Uint8Array() }],
    });
    const reading = classifyReply(message, { name: name('example.com.'), type: TYPE.NS }, name('com.'));
    expect(print(reading, TYPE.NS)).toBe('lame: neither AA nor a referral');
    const soa = reply({ aa: true, authorities: [{ ...record, type: TYPE.SOA, rdata: new Uint8Array() }] });
    expect(classifyReply(soa, { name: name('example.com.'), type: TYPE.NS }, name('com.')).kind).toBe('lame');
  });
});

// What counts as the reply to a question: octets in, a decision out.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, type Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeQuery, setId } from '../../../src/resolver/exchange/encode-query.ts';
import { matchReply } from '../../../src/resolver/exchange/match-reply.ts';
import { mixCase } from '../../../src/resolver/exchange/mixed-case.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { rightOctets } from '../../support/world/misbehaving-server.ts';

const NAME = parseName('www.example.');
const NS = [parseName('ns1.example.')];

function queryOf({ edns = true, name = NAME, id = 0x1234 } = {}): Uint8Array {
  const query = encodeQuery(name, TYPE.NS, edns);
  mixCase(query, new Uint8Array(32).fill(0b0101_0101));
  setId(query, id);
  return query;
}

/** What a server that reads `query` sends, with `change`. */
function replyTo(query: Uint8Array, change: (query: Message) => Partial<Message> = () => ({})): Uint8Array {
  const decoded = decodeMessage(query);
  return rightOctets(decoded, change(decoded).questions?.length === 0 ? [] : NS, change(decoded));
}

function lowered({ questions: [question] }: Message): Partial<Message> {
  if (question === undefined) throw new Error('no question');
  return { questions: [{ ...question, name: foldCase(question.name) }] };
}

describe('matchReply', () => {
  const query = queryOf();
  const plain = queryOf({ edns: false });
  const rcode = (code: number) => () => ({ rcode: code });
  const table: [string, Uint8Array, Uint8Array, { udp: string; tcp?: string }][] = [
    ['the reply', query, replyTo(query), { udp: 'reply' }],
    ['SERVFAIL', query, replyTo(query, rcode(RCODE.SERVFAIL)), { udp: 'reply' }],
    ['NXDOMAIN', query, replyTo(query, rcode(RCODE.NXDOMAIN)), { udp: 'reply' }],
    ['another id', query, replyTo(queryOf({ id: 0x1235 })), { udp: 'unrelated' }],
    ['ids are compared whole', query, replyTo(queryOf({ id: 0x3412 })), { udp: 'unrelated' }],
    ['the query itself', query, query, { udp: 'unrelated' }],
    [
      'another name of the same length',
      query,
      replyTo(queryOf({ name: parseName('wwx.example.') })),
      { udp: 'unrelated' },
    ],
    ['a shorter name', query, replyTo(queryOf({ name: parseName('example.') })), { udp: 'unrelated' }],
    ['a longer name', query, replyTo(queryOf({ name: parseName('www.example.org.') })), { udp: 'unrelated' }],
    // only A–Z fold (RFC 4343 §3): "[" is not "{" and "@" is not "`"
    [
      'octets that differ by 0x20 and are no letters',
      queryOf({ name: parseName('\\[\\@.example.') }),
      replyTo(queryOf({ name: parseName('\\{\\`.example.') })),
      { udp: 'unrelated' },
    ],
    ['lower case', query, replyTo(query, lowered), { udp: 'other_case', tcp: 'reply' }],
    [
      'lower case and TC',
      query,
      replyTo(query, (q) => ({ ...lowered(q), tc: true })),
      { udp: 'other_case', tcp: 'truncated' },
    ],
    ['TC', query, replyTo(query, () => ({ tc: true })), { udp: 'truncated' }],
    ['FORMERR', query, replyTo(query, rcode(RCODE.FORMERR)), { udp: 'edns_refused' }],
    ['FORMERR to a plain question', plain, replyTo(plain, rcode(RCODE.FORMERR)), { udp: 'reply' }],
    ['NOTIMP', query, replyTo(query, rcode(RCODE.NOTIMP)), { udp: 'edns_refused' }],
    ['BADVERS', query, replyTo(query, rcode(RCODE.BADVERS)), { udp: 'edns_refused' }],
    [
      'FORMERR that cannot be read',
      query,
      replyTo(query, rcode(RCODE.FORMERR)).subarray(0, 40),
      { udp: 'edns_refused' },
    ],
    ['a bare FORMERR', query, bare(query, RCODE.FORMERR), { udp: 'edns_refused' }],
    ['a bare FORMERR to a plain question', plain, bare(plain, RCODE.FORMERR), { udp: 'unreadable' }],
    ['a bare REFUSED', query, bare(query, RCODE.REFUSED), { udp: 'unreadable' }],
    ['a header that promises a question', query, replyTo(query).subarray(0, 12), { udp: 'unreadable' }],
    ['half a header', query, replyTo(query).subarray(0, 11), { udp: 'unrelated' }],
    ['nothing', query, new Uint8Array(0), { udp: 'unrelated' }],
    ['a question cut short', query, replyTo(query).subarray(0, 26), { udp: 'unreadable' }],
    ['records cut short', query, replyTo(query).subarray(0, 50), { udp: 'unreadable' }],
    ['octets behind the message', query, Buffer.concat([replyTo(query), Buffer.alloc(9)]), { udp: 'reply' }],
  ];
  for (const [what, asked, reply, { udp, tcp = udp }] of table) {
    it(`${what}: ${udp === tcp ? udp : `${udp} over UDP, ${tcp} over TCP`}`, () => {
      expect([matchReply(asked, reply, 'udp').kind, matchReply(asked, reply, 'tcp').kind]).toEqual([
        udp,
        tcp,
      ]);
    });
  }

  it('gives the message without the mixed letters, also in names that are compressed against the question', () => {
    const mx = Buffer.from([0, 10, 4, ...Buffer.from('mail'), 0xc0, 12]); // RFC 1035 §4.1.4: on to the question's name
    const answer = Buffer.concat([Buffer.from([0xc0, 12, 0, TYPE.MX, 0, 1, 0, 0, 0, 60, 0, mx.length]), mx]);
    const asked = query.subarray(0, 12 + NAME.length + 4);
    const reply = Uint8Array.from(Buffer.concat([asked, answer]));
    reply.set([0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0], 2);
    const accepted = matchReply(query, reply, 'udp');
    const message = accepted.kind === 'reply' ? accepted.message : undefined;
    expect(message?.questions[0]?.name).toBe(NAME);
    expect(message?.answers).toMatchObject([{ owner: NAME, type: TYPE.MX }]);
    const target = Buffer.from(`\x04mail${NAME}`, 'latin1');
    expect(Buffer.from(message?.answers[0]?.rdata ?? []).subarray(2)).toEqual(target);
  });

  it('never throws, and takes no message for a reply whose question is another', () => {
    const reply = replyTo(query);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(reply.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.nat(reply.length),
        (changes, length) => {
          const octets = Uint8Array.from(reply);
          for (const [at, octet] of changes) octets[at] = octet;
          const cut = octets.subarray(0, length);
          for (const transport of ['udp', 'tcp'] as const) {
            const accepted = matchReply(query, cut, transport);
            if (accepted.kind !== 'reply') continue;
            expect(accepted.message.questions.map(({ name }) => foldCase(name as Name))).toEqual([NAME]);
            expect([accepted.message.id, accepted.message.qr]).toEqual([0x1234, true]);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

function bare(query: Uint8Array, rcode: number): Uint8Array {
  const { edns: _, ...plain } = decodeMessage(query);
  return encodeMessage({ ...plain, qr: true, rcode, questions: [] });
}

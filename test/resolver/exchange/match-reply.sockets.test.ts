// Which octets count as the reply to a query.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, type Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
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

/** Returns what a server that reads `query` sends, with `change`. */
function replyTo(query: Uint8Array, change: (query: Message) => Partial<Message> = () => ({})): Uint8Array {
  const decoded = decodeMessage(query);
  return rightOctets(decoded, change(decoded).questions?.length === 0 ? [] : NS, change(decoded));
}

const lowered = ({ questions }: Message): Partial<Message> => ({
  questions: questions.map((question) => ({ ...question, name: foldCase(question.name) })),
});

const changed =
  (part: Partial<Message['questions'][number]>) =>
  ({ questions }: Message): Partial<Message> => ({
    questions: questions.map((question) => ({ ...question, ...part })),
  });

describe('matchReply', () => {
  const query = queryOf();
  const plain = queryOf({ edns: false });
  const rcode = (code: number) => () => ({ rcode: code });
  const changedTo = (change: (query: Message) => Partial<Message>) => replyTo(query, change);
  const other = (name: string) => replyTo(queryOf({ name: parseName(name) }));
  const doubled = ({ questions }: Message) => ({ questions: [...questions, ...questions] });
  const loweredTc = (asked: Message) => ({ ...lowered(asked), tc: true });
  // only A–Z fold (RFC 4343 §3): "[" is not "{" and "@" is not "`"
  const [odd, odder] = ['\\[\\@.example.', '\\{\\`.example.'];
  it.each<[string, string, Uint8Array, Uint8Array?, string?]>([
    ['the reply', 'reply', replyTo(query)],
    ['SERVFAIL', 'reply', changedTo(rcode(RCODE.SERVFAIL))],
    ['NXDOMAIN', 'reply', changedTo(rcode(RCODE.NXDOMAIN))],
    ['another id', 'unrelated', replyTo(queryOf({ id: 0x1235 }))],
    ['an id with swapped octets', 'unrelated', replyTo(queryOf({ id: 0x3412 }))],
    ['the query itself', 'unrelated', query],
    ['another name of the same length', 'unrelated', other('wwx.example.')],
    ['a shorter name', 'unrelated', other('example.')],
    ['a longer name', 'unrelated', other('www.example.org.')],
    ['another type', 'unrelated', changedTo(changed({ type: TYPE.A }))],
    ['another class', 'unrelated', changedTo(changed({ class: CLASS.CH }))],
    ['two questions', 'unrelated', changedTo(doubled)],
    ['another opcode', 'unrelated', changedTo(() => ({ opcode: 4 }))],
    ['other octets that differ by 0x20', 'unrelated', other(odder), queryOf({ name: parseName(odd) })],
    ['lower case', 'other_case', changedTo(lowered), query, 'reply'],
    ['lower case and TC', 'other_case', changedTo(loweredTc), query, 'truncated'],
    ['TC', 'truncated', changedTo(() => ({ tc: true }))],
    ['FORMERR', 'edns_refused', changedTo(rcode(RCODE.FORMERR))],
    ['FORMERR to a plain query', 'reply', replyTo(plain, rcode(RCODE.FORMERR)), plain],
    ['NOTIMP', 'edns_refused', changedTo(rcode(RCODE.NOTIMP))],
    ['BADVERS', 'edns_refused', changedTo(rcode(RCODE.BADVERS))],
    ['FORMERR that cannot be read', 'edns_refused', changedTo(rcode(RCODE.FORMERR)).subarray(0, 40)],
    ['a bare FORMERR', 'edns_refused', bare(query, RCODE.FORMERR)],
    ['a bare FORMERR to a plain query', 'unreadable', bare(plain, RCODE.FORMERR), plain],
    ['a bare REFUSED', 'unreadable', bare(query, RCODE.REFUSED)],
    ['a header that claims to have a question', 'unreadable', replyTo(query).subarray(0, 12)],
    ['half a header', 'unrelated', replyTo(query).subarray(0, 11)],
    ['nothing', 'unrelated', new Uint8Array(0)],
    ['a truncated question', 'unreadable', replyTo(query).subarray(0, 26)],
    ['truncated records', 'unreadable', replyTo(query).subarray(0, 50)],
    ['octets after the message', 'reply', Buffer.concat([replyTo(query), Buffer.alloc(9)])],
  ])('classifies %s as %s', (_, udp, reply, asked = query, tcp = udp) => {
    const kinds = [matchReply(asked, reply, 'udp').kind, matchReply(asked, reply, 'tcp').kind];
    expect(kinds).toEqual([udp, tcp]);
  });

  it('returns the message without mixed case, also in names that are compressed against the question', () => {
    const mx = Buffer.from([0, 10, 4, ...Buffer.from('mail'), 0xc0, 12]); // RFC 1035 §4.1.4: continues with the question's name
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

  it('never throws, and accepts no message with another question', () => {
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

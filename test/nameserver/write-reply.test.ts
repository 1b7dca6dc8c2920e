import { describe, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { Cookies } from '../../src/nameserver/cookies.ts';
import { Query, readQuery } from '../../src/nameserver/read-query.ts';
import { MAX_UDP_OCTETS, type Reply, writeReply } from '../../src/nameserver/write-reply.ts';
import type { RecordSet } from '../../src/zone/zone.ts';
import { queryFor } from '../support/packets.ts';
import { udpClient } from '../support/test-node.ts';
import { recordsOf } from '../support/zone-text.ts';

/** A set of `count` A records, 16 octets each when the owner is the question. */
function addresses(owner: string, count: number): RecordSet {
  const lines = Array.from({ length: count }, (_, i) => `${owner} A 192.0.2.${i}`).join('\n');
  const records = recordsOf(lines);
  return { owner: records[0]!.owner, type: TYPE.A, ttl: 300, rdata: records.map((record) => record.rdata) };
}

function written(sections: Partial<Reply>, withheld = false) {
  const query = new Query();
  readQuery(queryFor('q.example.', TYPE.A), query);
  const reply: Reply = {
    kind: 'answer',
    rcode: 0,
    authoritative: true,
    class: 1,
    answer: [],
    authority: [],
    glue: [],
    additional: [],
    ...sections,
  };
  const out = new Uint8Array(MAX_UDP_OCTETS);
  const sources = { nodeName: 'n', cookies: new Cookies([new Uint8Array(16)]), tcpIdleTimeoutMs: 1000 };
  const length = writeReply(query, reply, withheld, undefined, out, udpClient(192, 0, 2, 1), sources, 0);
  expect(length).toBeLessThanOrEqual(512);
  const message = decodeMessage(out.subarray(0, length));
  const { tc, answers, authorities, additionals } = message;
  return `${tc ? 'tc ' : ''}${answers.length}/${authorities.length}/${additionals.length}`;
}

// 12 octets of header and 15 of question leave 485: 30 records of 16 octets.
describe('a record set', () => {
  test('that fits to the last octet is there', () => {
    expect(written({ answer: [addresses('q.example.', 30)] })).toBe('30/0/0');
  });
  test('of the answer section that does not fit is left out whole, with TC', () => {
    expect(written({ answer: [addresses('q.example.', 31)] })).toBe('tc 0/0/0');
  });
  test('behind one that did not fit is left out too: what is there is the beginning', () => {
    const answer = [addresses('q.example.', 10), addresses('a.example.', 40), addresses('b.example.', 1)];
    expect(written({ answer, authority: [addresses('c.example.', 1)] })).toBe('tc 10/0/0');
  });
  test('of the authority section that does not fit sets TC', () => {
    expect(written({ answer: [addresses('q.example.', 20)], authority: [addresses('q.example.', 20)] })).toBe(
      'tc 20/0/0',
    );
  });
  test('of glue that does not fit sets TC, with the glue before it (RFC 9471 §3.1)', () => {
    const glue = [addresses('a.example.', 2), addresses('b.example.', 40)];
    expect(written({ authority: [addresses('q.example.', 5)], glue })).toBe('tc 0/5/2');
  });
  test('of the rest of the additional section is left out silently', () => {
    const sections = {
      authority: [addresses('q.example.', 5)],
      glue: [addresses('a.example.', 2)],
      additional: [addresses('b.example.', 3), addresses('c.example.', 40), addresses('d.example.', 1)],
    };
    expect(written(sections)).toBe('0/5/5');
  });
});

test('a withheld answer is empty and has TC', () => {
  expect(written({ answer: [addresses('q.example.', 1)] }, true)).toBe('tc 0/0/0');
});

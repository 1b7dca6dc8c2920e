import { describe, expect, test } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { ask, testNode } from '../../support/answer/test-node.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';

const many = (count: number, owner: string) =>
  Array.from({ length: count }, (_, i) => `${owner} A 192.0.2.${i}`).join('\n');

const servers = (count: number) =>
  Array.from({ length: count }, (_, i) => `q NS ns${i}.long-enough.else.`).join('\n');

/** `tc answers/authorities/additionals` over UDP without EDNS: 512 octets. */
function written(zone: string, name: string, type: number = TYPE.A): string {
  const node = testNode({ zoneText: `@ SOA ns h 1 2 3 4 5\n@ NS ns.else.\n${zone}` });
  const reply = ask(queryFor(`${name}.example.test.`, type), node);
  expect(node.failures).toEqual([]);
  expect(reply.length).toBeLessThanOrEqual(512);
  const { tc, answers, authorities, additionals } = decodeMessage(reply);
  return `${tc ? 'tc ' : ''}${answers.length}/${authorities.length}/${additionals.length}`;
}

// Header and question of `q` take 12 + 16 + 4 octets, which leaves 30 records of 16.
/** `30 q` stands for 30 addresses of `q`. */
test.each(
  rowsOf(`
30 records fill the message to the last octet | 30 q | q A | 30/0/0
an answer with one octet too many | 30 qq | qq A | tc 0/0/0
an answer with one record too many | 31 q | q A | tc 0/0/0
an answer after aliases, which stay | q CNAME a / a CNAME b / 40 b | q A | tc 2/0/0
an authority section | 40 NS | q A | tc 0/0/0
glue, whose first set stays (RFC 9471 §3.1) | q NS a.q / q NS b.q / q NS c.q / 2 a.q / 40 b.q / 1 c.q | x.q A | tc 0/3/2
sibling glue: no TC (RFC 9471 §3.2) | q NS a.s / q NS b.q / 40 a.s / 2 b.q / s NS a.s | x.q A | 0/2/2
other additional records: no TC, and none after them | q MX 1 a / q MX 2 b / q MX 3 c / 3 a / 40 b / 1 c | q MX | 3/0/3`),
)('a record set that does not fit is left out whole: %s', (_, zone, question = '', summary) => {
  const lines = itemsOf(zone).map((item) => {
    const [, count, owner = ''] = /^(\d+) (\S+)$/.exec(item) ?? [];
    if (count === undefined) return item;
    return owner === 'NS' ? servers(Number(count)) : many(Number(count), owner);
  });
  const [name = '', type] = question.split(' ');
  expect(written(lines.join('\n'), name, TYPE[type as 'A' | 'MX'])).toBe(summary);
});

test('a record set that does not fit leaves the rcode of the whole chain (RFC 6604 §3)', () => {
  const links = Array.from({ length: 15 }, (_, i) => `q${i} CNAME ${'l'.repeat(50)}.q${i + 1}`);
  const names = Array.from(
    { length: 15 },
    (_, i) => `${'l'.repeat(50)}.q${i + 1} CNAME ${i < 14 ? `q${i + 1}` : 'gone'}`,
  );
  const node = testNode({
    zoneText: ['@ SOA ns h 1 2 3 4 5', '@ NS ns.else.', ...links, ...names].join('\n'),
  });
  const message = decodeMessage(ask(queryFor('q9.example.test.', TYPE.A), node));
  expect(message).toMatchObject({ tc: true, rcode: 3 });
});

describe('additional records', () => {
  const additional = (zone: string, type: number) => {
    const node = testNode({ zoneText: `@ SOA ns h 1 2 3 4 5\n@ NS ns.else.\n${zone}` });
    const { additionals } = decodeMessage(ask(queryFor('q.example.test.', type, { opt: '' }), node));
    return additionals.map((record) => Buffer.from(record.owner).toString('latin1'));
  };
  test('of a host that two records name are there once', () => {
    expect(additional('q MX 1 a\nq MX 2 A\na A 192.0.2.1', TYPE.MX)).toEqual(['\x01a\x07example\x04test\0']);
  });
  test('have the name of a host whose rdata may not be pointed to (RFC 3597 §4)', () => {
    const zone = 'q SRV 1 2 3 a.b\na.b A 192.0.2.1\na.b AAAA 2001:db8::1';
    const owner = '\x01a\x01b\x07example\x04test\0';
    expect(additional(zone, TYPE.SRV)).toEqual([owner, owner]);
  });
  test('of a service binding that targets its owner are the addresses only (RFC 9460 §2.5.2)', () => {
    expect(additional('q HTTPS 1 . alpn=h2\nq A 192.0.2.1', TYPE.HTTPS)).toEqual([
      '\x01q\x07example\x04test\0',
    ]);
  });
});

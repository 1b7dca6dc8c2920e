import { describe, expect, test } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { ask, testNode } from '../../support/answer/test-node.ts';

const many = (count: number, owner: string) =>
  Array.from({ length: count }, (_, i) => `${owner} A 192.0.2.${i}`).join('\n');

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
describe('a record set', () => {
  test('that fits to the last octet is there', () => {
    expect(written(many(30, 'q'), 'q')).toBe('30/0/0');
    expect(written(many(30, 'qq'), 'qq')).toBe('tc 0/0/0');
  });
  test('of the answer section that does not fit is left out whole, with TC', () => {
    expect(written(many(31, 'q'), 'q')).toBe('tc 0/0/0');
  });
  test('of the answer section that does not fit behind others leaves those', () => {
    expect(written(`q CNAME a\na CNAME b\n${many(40, 'b')}`, 'q')).toBe('tc 2/0/0');
  });
  test('that does not fit says nothing against the rcode of the whole chain (RFC 6604 §3)', () => {
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
  test('of the authority section that does not fit sets TC', () => {
    const servers = Array.from({ length: 40 }, (_, i) => `q NS ns${i}.long-enough.else.`);
    expect(written(servers.join('\n'), 'q')).toBe('tc 0/0/0');
  });
  test('of glue that does not fit sets TC, with the glue before it (RFC 9471 §3.1)', () => {
    const zone = `q NS a.q\nq NS b.q\nq NS c.q\n${many(2, 'a.q')}\n${many(40, 'b.q')}\n${many(1, 'c.q')}`;
    expect(written(zone, 'x.q')).toBe('tc 0/3/2');
  });
  test('of sibling glue that does not fit is left out silently (RFC 9471 §3.2)', () => {
    const zone = `q NS a.s\nq NS b.q\n${many(40, 'a.s')}\n${many(2, 'b.q')}\ns NS a.s`;
    expect(written(zone, 'x.q')).toBe('0/2/2');
  });
  test('of the rest of the additional section is left out silently, and what is behind it too', () => {
    const zone = `q MX 1 a\nq MX 2 b\nq MX 3 c\n${many(3, 'a')}\n${many(40, 'b')}\n${many(1, 'c')}`;
    expect(written(zone, 'q', TYPE.MX)).toBe('3/0/3');
  });
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

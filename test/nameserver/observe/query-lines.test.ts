import { describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName } from '../../../src/dns/name.ts';
import { MAX_LINE_OCTETS, QueryLines } from '../../../src/nameserver/observe/query-lines.ts';
import { type Observed, sampleOf, V6 } from '../../support/answer/samples.ts';

describe('a line of the query log', () => {
  function print(given: Observed, client: 'prefix' | 'full'): string {
    const out = Buffer.alloc(MAX_LINE_OCTETS + 1);
    const end = new QueryLines(client).write(sampleOf(given), out, 1);
    return out.toString('latin1', 1, end);
  }
  const lineOf = (given: Observed, client: 'prefix' | 'full' = 'prefix') =>
    JSON.parse(print(given, client)) as Record<string, unknown>;

  it('has the fields of the query, with the network of the client or its address', () => {
    expect(lineOf({ transport: 2, rcode: 23 })).toEqual({
      at: '2039-01-01T00:00:00.123Z',
      client: '192.0.2.0/24',
      name: 'www.example.test.',
      type: 'A',
      rcode: 'BADCOOKIE',
      transport: 'tls',
      zone: 'example.test.',
      us: 250,
    });
    expect(lineOf({ address: V6 })).toMatchObject({ client: '2001:db8:1::/48' });
    expect(lineOf({ address: V6 }, 'full')).toMatchObject({ client: '2001:db8:1:2:3:4:5:6' });
    expect(lineOf({}, 'full')).toMatchObject({ client: '192.0.2.77' });
  });

  it('escapes every octet of a name, so that a client cannot forge lines', () => {
    for (let first = 0; first < 256; first += 64) {
      const label = Uint8Array.from({ length: 63 }, (_, i) => first + i);
      const name = Buffer.from([63, ...label, 1, first + 63, 0]);
      const query = Buffer.concat([
        Buffer.of(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
        name,
        Buffer.of(0, 1, 0, 1),
      ]);
      const line = print({ query, zoneLabels: 0 }, 'full');
      expect(line).toMatch(/^[ -~]+\n$/); // one line of printable ASCII
      const { name: text, zone } = JSON.parse(line) as { name: string; zone: string };
      expect(parseName(text)).toBe(foldCase(name.toString('latin1') as Name));
      expect(zone).toBe('.');
    }
  });

  it.each([
    ['no question', '000000000000000000000000'],
    ['two questions', '000000000002000000000000000001000100000100 01'],
    ['a compressed name', '000000000001000000000000c00c00010001'],
    ['a name that exceeds the message', '0000000000010000000000003f61'],
    ['a name without a type', '00000000000100000000000000'],
    ['a name of 256 octets', `000000000001000000000000${`3f${'61'.repeat(63)}`.repeat(4)}0000010001`],
  ])('has no name and no zone if the query has %s', (_, hex) => {
    const query = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    expect(lineOf({ query, rcode: 1 })).toMatchObject({
      name: null,
      type: null,
      zone: null,
      rcode: 'FORMERR',
    });
  });
});

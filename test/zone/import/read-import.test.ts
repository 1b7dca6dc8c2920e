import { expect, it } from 'vitest';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { type ImportText, type ReadImport, readImport } from '../../../src/zone/import/read-import.ts';
import { setKey } from '../../../src/zone/records/customer-record.ts';
import { APEX, recordText } from '../../support/zone/customer-records.ts';

function read(items: readonly ImportText[]): ReadImport {
  return inOneGo(readImport(items, APEX));
}

it('items are read one by one, those that cannot be are told', () => {
  const { entries, unread, incomplete, named } = read(
    ['a A 192.0.2.1', 'a A x', 'a..b A 192.0.2.1', 'b MX 10 h.example.net'].map((line) => recordText(line)),
  );
  expect(entries.map(({ index, type }) => `${index} ${type}`)).toEqual(['0 A', '3 MX']);
  expect([...unread.keys()]).toEqual([1, 2]);
  const [a, b] = entries;
  expect([...incomplete]).toEqual([a && setKey(a.name, 'A')]);
  expect(named).toEqual([
    { name: a?.name, type: 'A' },
    { name: b?.name, type: 'MX' },
  ]);
});

it.each([
  [undefined, undefined],
  [-1, 60],
  [60, 60],
  [3600, 3600],
  [2 ** 40, 86_400],
  [1e30, 86_400],
])('a TTL of %s becomes %s', (ttl, expected) => {
  expect(read([{ name: 'a', type: 'A', destination: '192.0.2.1', ttl }]).entries[0]?.ttl).toBe(expected);
});

it.each([
  [{ type: 'FOO' }, 'type', []],
  [{ type: 'a' }, 'type', ['A']],
  [{ ttl: 100.5 }, 'TTL', ['A']],
  [{ ttl: 1.5 }, 'TTL', ['A']],
  [{ port: 1e30 }, 'port', ['A']],
  [{ mx_priority: 1.5 }, 'priority', ['A']],
  [{ scheme: 'Gopher' }, 'scheme', ['A']],
  [{ name: 'a\ud800' }, 'label', []],
  [{ name: '\\\ud800' }, '', []],
  [{ comment: 'a\0b' }, 'comment', ['A']],
])('%j is a fault of the item', (more, message, sets) => {
  const { entries, unread, incomplete } = read([
    { name: 'a', type: 'A', destination: '192.0.2.1', ...more },
    { name: 'b', type: 'A', destination: '192.0.2.1' },
  ]);
  expect([entries.map(({ index }) => index), unread.get(0)]).toEqual([[1], expect.stringContaining(message)]);
  expect([...incomplete].map((key) => key.split(' ')[0])).toEqual(sets);
});

it('a name of any length is judged', () => {
  const { unread } = read([{ name: 'ü'.repeat(1_000_000), type: 'A', destination: '192.0.2.1' }]);
  expect(unread.get(0)).toBe('a name is longer than 255 octets');
});

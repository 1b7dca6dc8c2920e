import { describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import {
  decodeEntry,
  encodeEntry,
  type SnapshotEntry,
} from '../../../src/nameserver/snapshot/snapshot-entry.ts';
import { smallZone } from '../../support/processes/follow.ts';

const { apex, records } = smallZone('a.example.', 7, 'www A 192.0.2.9\n*.w TXT ""\n@ TXT "x"');
const content = { id: 2 ** 40 + 1, version: 2 ** 50 + 3, mark: 2 ** 48 - 1 };
const cursor = {
  epoch: '7/1/5/16/17/e',
  from: 2n ** 62n + 1n,
  inFlight: [2n ** 61n, 7n],
  recent: [{ id: 3, mark: 4, xid: 2n ** 60n }],
};

const entries: [string, SnapshotEntry][] = [
  ['a whole zone', { kind: 'zone', apex, content, records }],
  ['a zone without records', { kind: 'zone', apex, content, records: [] }],
  [
    'changed record sets, and some that are gone',
    {
      kind: 'sets',
      apex,
      content,
      records: records.slice(1),
      gone: [{ owner: parseName('x.y.a.example.'), type: 65280 }],
    },
  ],
  ['a removal', { kind: 'removal', apex }],
  ['a place in the feed', { kind: 'place', place: { cursor, position: 12 } }],
  ['no place', { kind: 'place', place: undefined }],
];

describe('an entry', () => {
  test.each(entries)('%s is read as it was written', (_, entry) => {
    const read = decodeEntry(Buffer.from(encodeEntry(entry)));
    expect(plain(read)).toEqual(plain(entry));
  });

  test.each(entries)('%s that is cut short is an error', (_, entry) => {
    const octets = Buffer.from(encodeEntry(entry));
    for (let length = 0; length < octets.length; length++) {
      expect(() => decodeEntry(octets.subarray(0, length))).toThrow();
    }
  });
});

/** Rdata as text: one is a Buffer, the other need not be. */
function plain(entry: SnapshotEntry): unknown {
  if (entry.kind !== 'zone' && entry.kind !== 'sets') return entry;
  const records = entry.records.map(({ owner, type, ttl, rdata }) => {
    return { owner, type, ttl, rdata: Buffer.from(rdata).toString('hex') };
  });
  return { ...entry, records };
}

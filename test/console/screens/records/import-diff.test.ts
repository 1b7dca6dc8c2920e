// What an import does to the records that are there.

import { describe, expect, it } from 'vitest';
import { importDifferences } from '../../../../console/src/screens/records/import-diff.ts';
import { someRecord } from '../../../support/console/records.ts';

const DOMAIN = 'shop.example';
const a = someRecord({ id: 1, name: 'www', destination: '192.0.2.1', proxied: true });
const b = someRecord({ id: 2, name: 'www', destination: '192.0.2.2' });
const text = someRecord({ id: 3, name: '@', type: 'TXT', destination: 'one' });
const apex = someRecord({ id: 4, name: '@', type: 'NS', destination: 'ns1.fleet.example', editable: false });
const there = [a, b, text, apex];
const ops = (items: Parameters<typeof importDifferences>[1]) =>
  importDifferences(there, items, DOMAIN).map(({ op, before, after }) => [
    op,
    before?.destination,
    after?.destination,
  ]);

describe('an import', () => {
  it('leaves a set that it says again alone, in any order', () => {
    expect(
      ops([
        { name: 'www', type: 'A', destination: '192.0.2.2' },
        { name: 'WWW.shop.example.', type: 'A', destination: '192.0.2.1' },
      ]),
    ).toEqual([]);
  });

  it('replaces a set: the same value stays, others take the places, the rest goes', () => {
    expect(ops([{ name: 'www', type: 'A', destination: '192.0.2.2' }])).toEqual([
      ['delete', '192.0.2.1', undefined],
    ]);
    expect(
      ops([
        { name: 'www', type: 'A', destination: '192.0.2.2' },
        { name: 'www', type: 'A', destination: '192.0.2.9' },
      ]),
    ).toEqual([['update', '192.0.2.1', '192.0.2.9']]);
  });

  it('keeps how a record is proxied', () => {
    const [found] = importDifferences(there, [{ name: 'www', type: 'A', destination: '192.0.2.9' }], DOMAIN);
    expect(found?.after?.proxied).toBe(true);
    expect(found?.fields).toEqual(['destination']);
  });

  it('only adds texts, and touches no other set', () => {
    expect(ops([{ name: '@', type: 'TXT', destination: 'two' }])).toEqual([['create', undefined, 'two']]);
    expect(ops([{ name: 'shop.example.', type: 'TXT', destination: 'one' }])).toEqual([]);
  });

  it('leaves what the service sets alone', () => {
    expect(ops([{ name: '@', type: 'NS', destination: 'ns9.example.net' }])).toEqual([
      ['create', undefined, 'ns9.example.net'],
    ]);
  });
});

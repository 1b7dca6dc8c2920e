import { describe, expect, it, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import {
  emptyCatalog,
  hasRoomForMembers,
  type ListedMember,
  memberLabel,
  memberRows,
} from '../../../src/zone/catalog/print-catalog.ts';
import { CatalogReader } from '../../../src/zone/catalog/read-catalog.ts';

const APEX = parseName('cat.invalid.');

function member(name: string, label: string, more: Partial<ListedMember> = {}): ListedMember {
  return { name: parseName(name), label, group: undefined, coo: undefined, ...more };
}

describe('the records of a catalog', () => {
  it('form a private zone that a consumer reads as the members', () => {
    const members = [
      member('a.example.', memberLabel(1, 7), { group: 'gold', coo: parseName('other.invalid.') }),
      member('B\\.b.example.', memberLabel(2, 7)),
      member('.', memberLabel(2 ** 52, 2 ** 52)),
    ];
    const records = [
      ...emptyCatalog(APEX, 5),
      ...members.flatMap((each) => memberRows(APEX, undefined, each).flatMap((rows) => rows.records)),
    ];
    expect(buildZone(APEX, records)).toMatchObject({
      kind: 'built',
      zone: { isPrivate: true, serial: 5, records: 8 },
    });
    const reader = new CatalogReader(APEX, { maxMembers: 10 });
    reader.add(records);
    const read = reader.end();
    expect(read.kind === 'read' && [...read.members.values()]).toEqual([
      { name: 'a.example.', label: members[0]?.label, groups: ['gold'], coo: 'other.invalid.' },
      { name: 'b\\.b.example.', label: members[1]?.label, groups: [], coo: undefined },
      { name: '.', label: members[2]?.label, groups: [], coo: undefined },
    ]);
  });

  it('of a member replace only the names that change', () => {
    const shown = (before: ListedMember | undefined, after: ListedMember | undefined) =>
      memberRows(APEX, before, after).map(({ owner, records }) => [
        owner.slice(1, 1 + owner.charCodeAt(0)),
        ...records.map(({ type, rdata }) => printRdata(type, rdata)),
      ]);
    const one = member('a.example.', 'one');
    expect(shown(undefined, one)).toEqual([['one', 'a.example.']]);
    expect(shown({ ...one, group: 'x' }, { ...one, coo: APEX })).toEqual([
      ['one', 'a.example.'],
      ['group'],
      ['coo', 'cat.invalid.'],
    ]);
    expect(shown(one, member('a.example.', 'two'))).toEqual([['one'], ['two', 'a.example.']]);
    expect(shown({ ...one, coo: APEX }, undefined)).toEqual([['one'], ['coo']]);
  });
});

test('labels are lower case, differ for each zone and version, and leave room for names of 216 octets', () => {
  const labels = [memberLabel(1, 2), memberLabel(2, 1), memberLabel(1, 3)];
  expect(new Set(labels).size).toBe(3);
  for (const label of labels) expect(label).toMatch(/^[0-9a-v]{26}$/);
  const long = (last: number) => parseName(`${`${'x'.repeat(63)}.`.repeat(3)}${'x'.repeat(last)}.`);
  expect([long(21), long(22)].map((name) => [name.length, hasRoomForMembers(name)])).toEqual([
    [215, true],
    [216, true],
  ]);
  expect(hasRoomForMembers(long(23))).toBe(false);
});

import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { idsTouched, NO_EDIT, namesTouched } from '../../../src/zone/edit/edit.ts';
import { APEX, type EditLines, edit, newRecord, records } from '../../support/zone/customer-records.ts';

function needed(lines: EditLines, found: string[] = []) {
  const wanted = namesTouched(edit(lines), APEX, records(found));
  const print = (names: readonly (typeof APEX)[]) =>
    names.map((name) => printName(name).replace('.example.com.', ''));
  return { at: print(wanted.at), cutsAt: print(wanted.cutsAt), below: print(wanted.below) };
}

it('an edit of one name needs that name and the delegations above it', () => {
  expect(needed({ create: ['a.b.c A 192.0.2.1'] })).toEqual({
    at: ['a.b.c'],
    cutsAt: ['b.c', 'c'],
    below: [],
  });
  expect(needed({ create: ['@ A 192.0.2.1', '@ MX 0 mx.example.net'] })).toEqual({
    at: ['example.com.'],
    cutsAt: [],
    below: [],
  });
});

it('a delegation needs what is below it, whether it is added, changed or deleted', () => {
  expect(needed({ create: ['s NS ns.example.net'] }).below).toEqual(['s']);
  expect(needed({ replace: [['s', 'NS', 'NS ns.example.net']] }).below).toEqual(['s']);
  expect(needed({ delete: [1] }, ['1: s NS ns.example.net']).below).toEqual(['s']);
  expect(needed({ update: [[1, { name: 't' }]] }, ['1: s NS ns.example.net'])).toEqual({
    at: ['s', 't'],
    cutsAt: [],
    below: ['s', 't'],
  });
  expect(needed({ update: [[1, { type: 'NS' }]] }, ['1: s CNAME ns.example.net']).below).toEqual(['s']);
  expect(needed({ delete: [1] }, ['1: s A 192.0.2.1']).below).toEqual([]);
});

it('records are found by id first, restored ones too', () => {
  const wanted = edit({ delete: [1], update: [[2, { ttl: 60 }]] });
  const { name, type, rdata } = newRecord('a A 192.0.2.1');
  const restores = { id: 3, createdAt: '2026-01-01T00:00:00Z' };
  expect(idsTouched({ ...wanted, creates: [{ name, type, rdata, restores }] })).toEqual([1, 2, 3]);
  expect(idsTouched(NO_EDIT)).toEqual([]);
  expect(namesTouched(wanted, APEX, [])).toEqual({ at: [], cutsAt: [], below: [] });
});

import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { namesTouched } from '../../../src/zone/edit/edit.ts';
import { formerHosts, possibleGlue } from '../../../src/zone/edit/glue-needed.ts';
import { APEX, type EditLines, edit, records } from '../../support/zone/customer-records.ts';

/** `lines` are all records of the domain. */
function needed(wanted: EditLines, lines: string[]) {
  const found = records(lines);
  const touched = namesTouched(edit(wanted), APEX, found);
  const print = (names: readonly (typeof APEX)[]) =>
    names.map((name) => printName(name).replace('.example.com.', '')).sort();
  return {
    hosts: print(formerHosts(touched, APEX, found)),
    glue: print(possibleGlue(touched, APEX, found)),
  };
}

const DELEGATED = [
  '1: a NS NS.b.example.com',
  '2: a NS ns.example.net',
  '3: a NS example.com',
  '4: b NS ns.b.example.com',
  '5: ns.b A 192.0.2.1',
  '6: ns.b AAAA 2001:db8::1',
  '7: www A 192.0.2.1',
];

it('a delegation that is written needs the hosts in the domain that it named before', () => {
  expect(needed({ delete: [1] }, DELEGATED).hosts).toEqual(['ns.b']);
  expect(needed({ create: ['b NS x.example.net'] }, DELEGATED).hosts).toEqual(['ns.b']);
  expect(needed({ create: ['c NS www.example.com'] }, DELEGATED).hosts).toEqual([]);
  expect(needed({ create: ['www A 192.0.2.2'] }, DELEGATED).hosts).toEqual([]);
});

it('names at and below delegations need an NS that names them', () => {
  expect(needed({ create: ['x.b A 192.0.2.1'] }, DELEGATED).glue).toEqual(['ns.b', 'x.b']);
  expect(needed({ create: ['b A 192.0.2.1'] }, DELEGATED).glue).toEqual(['b', 'ns.b']);
  expect(needed({ create: ['www NS ns.example.net'] }, ['1: x.www A 192.0.2.1']).glue).toEqual([
    'www',
    'x.www',
  ]);
  expect(needed({ create: ['www A 192.0.2.2'] }, ['1: www A 192.0.2.1']).glue).toEqual([]);
});

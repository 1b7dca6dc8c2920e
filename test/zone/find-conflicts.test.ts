import { expect, it } from 'vitest';
import { draftEdit } from '../../src/zone/draft.ts';
import { findConflicts } from '../../src/zone/find-conflicts.ts';
import { APEX, type EditLines, edit, editState } from '../support/customer-records.ts';

const messages = (lines: string[], wanted: EditLines) =>
  findConflicts(draftEdit(editState(lines), edit(wanted)).rows, APEX).map(
    ({ list, index, message }) => `${list}[${index}]: ${message}`,
  );

it.each<[string[], EditLines, string[]]>([
  [
    ['1: a TXT x'],
    { create: ['a CNAME b.example.net'] },
    ['create[0]: a.example.com. has a CNAME: nothing else can stand there'],
  ],
  [
    ['1: a ANAME b.example.net'],
    { create: ['a A 192.0.2.1'] },
    ['create[0]: a.example.com. has an ANAME, which brings its addresses'],
  ],
  [
    ['1: a A 192.0.2.1'],
    { create: ['a A 192.0.2.1'] },
    ['create[0]: this A record is at a.example.com. already'],
  ],
  [
    ['1: a A 192.0.2.1'],
    { create: ['a A 192.0.2.2 ; proxied'] },
    ['create[0]: the A, AAAA, CNAME and ANAME records at a.example.com. must all be proxied or none'],
  ],
  [
    ['1: s NS ns.example.net'],
    { create: ['w.s A 192.0.2.1'] },
    [
      'create[0]: w.s.example.com. lies below the delegation s.example.com.: only unproxied addresses of its nameservers can stand there',
    ],
  ],
])('%s and %j', (lines, wanted, expected) => {
  expect(messages(lines, wanted)).toEqual(expected);
});

it('blames the delegation for what was below it, and the record that comes below it', () => {
  expect(messages(['1: w.s A 192.0.2.1'], { create: ['t TXT x', 's NS ns.example.net'] })[0]).toMatch(
    /^create\[1\]/,
  );
  expect(messages(['1: s NS ns.example.net'], { create: ['t TXT x', 'w.s TXT x'] })[0]).toMatch(
    /^create\[1\]/,
  );
});

it('says one thing about one item', () => {
  expect(messages(['1: a A 192.0.2.1', '2: a TXT x'], { create: ['a CNAME b.example.net'] })).toHaveLength(1);
});

it('sees the topmost delegation', () => {
  const old = ['1: s NS ns.example.net', '2: x.s NS ns.example.net'];
  expect(messages(old, { create: ['y.x.s TXT x'] })[0]).toContain('below the delegation s.example.com.');
});

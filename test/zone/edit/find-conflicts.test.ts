import { describe, expect, it } from 'vitest';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { findConflicts } from '../../../src/zone/edit/find-conflicts.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { APEX, type EditLines, edit, editLines, editState } from '../../support/zone/customer-records.ts';
import { draftEdit } from '../../support/zone/plan-edit.ts';

const messages = (lines: string[], wanted: EditLines) =>
  inOneGo(findConflicts(draftEdit(editState(lines), edit(wanted)).rows, APEX)).map(
    ({ list, index, message }) => `${list}[${index}]: ${message}`,
  );

it.each(
  rowsOf(`
a TXT x | a CNAME b.example.net | a.example.com. has other records: a CNAME cannot stand beside them
a CNAME b.example.net | a TXT x | a.example.com. has a CNAME: nothing else can stand there
a A 192.0.2.1 | a ANAME b.example.net | a.example.com. has addresses: an ANAME, which brings its own, cannot stand beside them
a ANAME b.example.net | a A 192.0.2.1 | a.example.com. has an ANAME, which brings its addresses
a A 192.0.2.1 | a A 192.0.2.1 | this A record is at a.example.com. already
a A 192.0.2.1 | a A 192.0.2.2 ; proxied | the A, AAAA, CNAME and ANAME records at a.example.com. must all be proxied or none
s NS ns.example.net | w.s A 192.0.2.1 | w.s.example.com. lies below the delegation s.example.com.: only unproxied addresses of hosts that the domain's NS records point to can stand there`),
)('%s and %s', (line, wanted = '', expected) => {
  expect(messages([`1: ${line}`], { create: [wanted] })).toEqual([`create[0]: ${expected}`]);
});

it('reports, of a set that is too large, the items that do not fit', () => {
  const big = 'x'.repeat(40_000);
  expect(messages(['1: a TXT small'], { create: [`a TXT ${big}`, `a TXT y${big}`, 'a TXT z'] })).toEqual([
    'create[1]: the TXT records at a.example.com. would not fit into a DNS message',
  ]);
});

it('reports the delegation for records below it, and a new record below it', () => {
  expect(messages(['1: w.s A 192.0.2.1'], { create: ['t TXT x', 's NS ns.example.net'] })[0]).toMatch(
    /^create\[1\]/,
  );
  expect(messages(['1: s NS ns.example.net'], { create: ['t TXT x', 'w.s TXT x'] })[0]).toMatch(
    /^create\[1\]/,
  );
});

it('reports one problem for each item', () => {
  expect(messages(['1: a A 192.0.2.1', '2: a TXT x'], { create: ['a CNAME b.example.net'] })).toHaveLength(1);
});

it('sees the topmost delegation', () => {
  const old = ['1: s NS ns.example.net', '2: x.s NS ns.example.net'];
  expect(messages(old, { create: ['y.x.s TXT x'] })[0]).toContain('below the delegation s.example.com.');
});

describe('glue', () => {
  /** a names a host of its own, one below its sibling b, and one outside. */
  const delegated = [
    '1: a NS ns1.a.example.com',
    '2: a NS ns.b.example.com',
    '3: a NS ns.example.net',
    '4: b NS ns.example.net',
    '5: ns1.a A 192.0.2.1',
    '6: ns.b A 192.0.2.2',
  ];
  const blamed = (lines: string[], wanted: EditLines) =>
    messages(lines, wanted).map((text) => text.replace(/^(\S+: \S+) .*/, '$1'));

  it.each(
    rowsOf(`
more of it, also for a sibling | create ns.b AAAA 2001:db8::1 / create ns1.a A 192.0.2.3 |
not for a host that no NS record names | create ns2.b A 192.0.2.1 | create[0]: ns2.b.example.com.
not other types | create ns.b TXT x | create[0]: ns.b.example.com.
not a proxied one | update 6 proxied=true | update[0]: ns.b.example.com.
is not left by its delegation | create t TXT x / delete 2 | delete[0]: ns.b.example.com.
goes with its delegation | delete 2 6 |
is not left by a delegation that names another host, whatever else is done to its cut | update 2 destination=ns1.b.example.com / create b NS ns2.example.net | update[0]: ns.b.example.com.
can be taken over by another delegation | delete 2 / create c NS ns.b.example.com |
is no glue where its cut goes | delete 2 4 |
of its own delegation may be a sibling’s after it | delete 1 / create c NS NS1.A.example.com |
is not left by its own delegation, while that has other hosts | delete 1 | delete[0]: ns1.a.example.com.
may stand at a cut | create c NS b.example.com / create b A 192.0.2.1 |
does not make its host a delegation | create x.ns.b A 192.0.2.1 | create[0]: x.ns.b.example.com.`),
  )('%s', (_, wanted, expected) => {
    expect(blamed(delegated, editLines(itemsOf(wanted)))).toEqual(itemsOf(expected));
  });

  it('makes a new cut above it possible', () => {
    const lines = ['1: a NS ns.b.example.com', '2: ns.b A 192.0.2.1'];
    expect(blamed(lines, { create: ['b NS ns.example.net'] })).toEqual([]);
    expect(blamed([...lines, '3: www.b A 192.0.2.1'], { create: ['b NS ns.example.net'] })).toEqual([
      'create[0]: www.b.example.com.',
    ]);
  });
});

import { describe, expect, it, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { inOneGo } from '../../src/dns/zone-file/in-one-go.ts';
import { idsTouched, NO_EDIT, namesTouched } from '../../src/zone/edit/edit.ts';
import { findConflicts } from '../../src/zone/edit/find-conflicts.ts';
import { formerHosts, possibleGlue } from '../../src/zone/edit/glue-needed.ts';
import { judgeNarrowedWrite } from '../../src/zone/edit/key-narrowing.ts';
import { type EditText, parseEdit } from '../../src/zone/edit/parse-edit.ts';
import { planRevert, type SavedOperation } from '../../src/zone/edit/plan-revert.ts';
import { readKeyScope } from '../../src/zone/edit/read-key-scope.ts';
import type { CustomerRecord } from '../../src/zone/records/customer-record.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import {
  APEX,
  applied,
  type EditLines,
  edit,
  editLines,
  editState,
  NO_EDGES,
  newRecord,
  records,
  showPlan,
  showProblem,
  showRecord,
} from '../support/zone/customer-records.ts';
import { draftEdit, planEdit } from '../support/zone/plan-edit.ts';

const DIGEST = '0'.repeat(64);
const list = (cell = '') => itemsOf(cell.replaceAll('DIGEST', DIGEST));

const STATES = {
  none: {},
  managed: { managedIds: new Set([9]) },
  noEdges: { edges: NO_EDGES },
  noRecords: { maxRecords: 0 },
  oneRecord: { maxRecords: 1 },
  twoRecords: { maxRecords: 2 },
};

/** Each row: name | records | edit | operations or problems | state. */
function table(text: string): void {
  it.each(rowsOf(text))('%s', (_, records, wanted, expected, state = 'none') => {
    const before = editState(list(records), STATES[state as keyof typeof STATES]);
    expect(showPlan(planEdit(before, edit(editLines(list(wanted)))))).toEqual(list(expected));
  });
}

describe('the check of single items', () => {
  table(`
a new record has a TTL of 300 | | create www A 192.0.2.1 | + www 300 A 192.0.2.1
a record is deleted | 1: www A 192.0.2.1 | delete 1 | - 1: www 300 A 192.0.2.1
an update changes only the fields that it contains | 1: www 600 A 192.0.2.1 ; proxied comment=web | update 1 destination=192.0.2.2 | ~ 1: www 600 A 192.0.2.2 ; proxied comment=web
an update may change name and type | 1: www A 192.0.2.1 | update 1 name=w3 type=AAAA destination=2001:db8::5 | ~ 1: w3 300 AAAA 2001:db8::5
a CNAME becomes an ANAME with the same target | 1: www CNAME web.example.net | update 1 type=ANAME | ~ 1: www 300 ANAME web.example.net
an MX that becomes a CNAME loses its priority | 1: www MX 10 web.example.net | update 1 type=CNAME | ~ 1: www 300 CNAME web.example.net
a CNAME that becomes an MX requires a priority | 1: www CNAME web.example.net | update 1 type=MX | invalid update[0] mx_priority
the priority of an MX can be changed alone | 1: @ MX 10 mx.example.net | update 1 mx_priority=20 | ~ 1: @ 300 MX 20 mx.example.net
an address that becomes a CNAME requires a new destination | 1: www A 192.0.2.1 | update 1 type=CNAME | invalid update[0] destination
an update with the existing values changes nothing | 1: www 300 A 192.0.2.1 | update 1 name=www type=A ttl=300 destination=192.0.2.1 |
a record that does not exist is not found | | delete 2 / update 1 ttl=60 | not_found delete[0] id / not_found update[0] id
a record may be listed only once in a call | 1: www A 192.0.2.1 | delete 1 1 | invalid delete[1]
records managed by the service cannot be deleted | | delete 9 | managed delete[0] | managed`);
});

describe('one TTL per record set', () => {
  table(`
a new record takes the TTL of its set | 1: www 900 A 192.0.2.1 | create www A 192.0.2.2 | + www 900 A 192.0.2.2
another TTL changes the whole set | 1: www 900 A 192.0.2.1 / 2: www 900 AAAA 2001:db8::5 | create www 60 A 192.0.2.2 | ~ 1: www 60 A 192.0.2.1 / + www 60 A 192.0.2.2
an update of one TTL changes its siblings | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 ttl=600 | ~ 1: www 600 A 192.0.2.1 / ~ 2: www 600 A 192.0.2.2
the lower of two new TTLs in one call is used | 1: www A 192.0.2.1 | create www 900 A 192.0.2.2 / create www 600 A 192.0.2.3 | ~ 1: www 600 A 192.0.2.1 / + www 600 A 192.0.2.2 / + www 600 A 192.0.2.3
the set’s existing TTL does not override a new one | 1: www 300 A 192.0.2.1 | create www 300 A 192.0.2.2 / create www 600 A 192.0.2.3 | ~ 1: www 600 A 192.0.2.1 / + www 600 A 192.0.2.2 / + www 600 A 192.0.2.3
a record that moves into a set takes its TTL | 1: a 60 A 192.0.2.1 / 2: b 900 A 192.0.2.2 | update 1 name=b | ~ 1: b 900 A 192.0.2.1
a record that moves to a free name keeps its TTL | 1: a 60 A 192.0.2.1 | update 1 name=b | ~ 1: b 60 A 192.0.2.1
a set that is deleted and created again keeps its TTL | 1: a 60 A 192.0.2.1 | delete 1 / create a A 192.0.2.2 | - 1: a 60 A 192.0.2.1 / + a 60 A 192.0.2.2
a TTL below 60 or above 86400 is invalid | | create a 59 A 192.0.2.1 / create b 86401 A 192.0.2.1 / create c 60 A 192.0.2.1 / create d 86400 A 192.0.2.1 | invalid create[0] ttl / invalid create[1] ttl`);
});

describe('conflicts', () => {
  table(`
a proxied CNAME may coexist with MX and TXT | 1: www TXT x | create www CNAME web.example.net ; proxied / create www MX 0 mx.example.net | + www 300 CNAME web.example.net ; proxied / + www 300 MX 0 mx.example.net
a CNAME that is no longer proxied conflicts | 1: www TXT x / 2: www CNAME web.example.net ; proxied | update 2 proxied=false | conflict update[0]
only one CNAME is allowed at a name, even proxied | 1: www CNAME a.example.net ; proxied | create www CNAME b.example.net ; proxied | conflict create[0]
a CNAME and an ANAME at one name conflict | 1: www CNAME a.example.net ; proxied | create www ANAME b.example.net ; proxied | conflict create[0]
an ANAME may coexist with MX and TXT at the apex | 1: @ MX 0 mx.example.net | create @ ANAME a.example.net / create @ TXT x | + @ 300 ANAME a.example.net / + @ 300 TXT x
proxied address-like records may coexist | 1: www A 192.0.2.1 ; proxied | create www AAAA 2001:db8::5 ; proxied / create www ANAME a.example.net ; proxied | + www 300 AAAA 2001:db8::5 ; proxied / + www 300 ANAME a.example.net ; proxied
all records of a name can be proxied in one call | 1: www A 192.0.2.1 / 2: www AAAA 2001:db8::5 | update 1 proxied=true / update 2 proxied=true | ~ 1: www 300 A 192.0.2.1 ; proxied / ~ 2: www 300 AAAA 2001:db8::5 ; proxied
the same target in another case conflicts | 1: @ MX 5 mx.example.net | create @ MX 5 MX.Example.NET | conflict create[0]
another priority is another record | 1: @ MX 5 mx.example.net | create @ MX 6 mx.example.net | + @ 300 MX 6 mx.example.net
the same record twice in one call conflicts | | create www A 192.0.2.1 / create www A 192.0.2.1 | conflict create[1]
an update to the value of another record conflicts | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 destination=192.0.2.2 | conflict update[0]
equal imported TXT records do not prevent an edit of one of them | 1: @ TXT x / 2: @ TXT x | update 2 comment=second | ~ 2: @ 300 TXT x ; comment=second
existing conflicts that the edit does not touch are ignored | 1: www CNAME a.example.net / 2: www TXT x | create other A 192.0.2.1 | + other 300 A 192.0.2.1`);

  it('an equal TXT record may be added if the caller allows it', () => {
    const wanted = edit({ create: ['@ TXT x'] });
    const creates = wanted.creates.map((record) => ({ ...record, allowEqualTxt: true }));
    expect(showPlan(planEdit(editState(['1: @ TXT x']), { ...wanted, creates }))).toEqual(['+ @ 300 TXT x']);
    const equalA = edit({ create: ['@ A 192.0.2.1'] }).creates.map((record) => ({
      ...record,
      allowEqualTxt: true,
    }));
    const plan = planEdit(editState(['1: @ A 192.0.2.1']), { ...wanted, creates: equalA });
    expect(showPlan(plan)).toEqual(['conflict create[0]']);
  });

  it('a record set that does not fit into a message', () => {
    // 405 records of 160 octets and 12 of 16 octets fit into a message; the next one of 16 octets does not.
    const text = (octets: number, i: number) => `big TXT ${String(i).padStart(octets - 13, '0')}`;
    const create = Array.from({ length: 420 }, (_, i) => text(i < 405 ? 160 : 16, i));
    expect(showPlan(planEdit(editState([]), edit({ create })))[0]).toBe('conflict create[417]');
    expect(planEdit(editState([]), edit({ create: create.slice(0, 417) })).kind).toBe('change');
  });
});

describe('the apex', () => {
  table(`
cannot have a DS | | create @ DS 1 13 2 DIGEST | invalid create[0] type
keeps its CNAME proxied | 1: @ CNAME web.example.net ; proxied | update 1 proxied=false | invalid update[0] type
keeps the nameservers of the service | | replace @ NS: | managed replace[0]
refuses a replacement of the nameservers | | replace @ NS: NS ns.example.net, NS ns.example.org | invalid replace[0] type`);
});

describe('delegations', () => {
  table(`
may have glue below them | | create sub NS ns1.sub.example.com / create sub NS ns.example.net / create ns1.sub A 192.0.2.1 / create ns1.sub AAAA 2001:db8::5 | + sub 300 NS ns1.sub.example.com / + sub 300 NS ns.example.net / + ns1.sub 300 A 192.0.2.1 / + ns1.sub 300 AAAA 2001:db8::5
may name their own name as nameserver | 1: sub NS sub.example.com | create sub A 192.0.2.1 | + sub 300 A 192.0.2.1
allow only NS, DS and glue at their name | 1: sub NS ns.example.net | create sub TXT x / create sub A 192.0.2.1 | conflict create[0] / conflict create[1]
allow no wildcard below them | 1: sub NS ns.example.net | create *.sub A 192.0.2.1 | conflict create[0]
allow no delegation below them | 1: sub NS ns.example.net | create a.b.sub NS ns.example.org | conflict create[0]
are refused above existing records | 1: www.sub A 192.0.2.1 | create sub NS ns.example.net | conflict create[0]
are accepted above records deleted in the same call | 1: www.sub A 192.0.2.1 | delete 1 / create sub NS ns.example.net | - 1: www.sub 300 A 192.0.2.1 / + sub 300 NS ns.example.net
leave ordinary names below them when NS is deleted | 1: sub NS ns1.sub.example.com / 2: ns1.sub A 192.0.2.1 | delete 1 / create www.sub TXT x | - 1: sub 300 NS ns1.sub.example.com / + www.sub 300 TXT x
require NS for a DS | | create sub DS 1 13 2 DIGEST | conflict create[0]
may have a DS | 1: sub NS ns.example.net | create sub DS 1 13 2 DIGEST | + sub 300 DS 1 13 2 DIGEST
keep their NS as long as there is a DS | 1: sub NS ns.example.net / 2: sub DS 1 13 2 DIGEST | delete 1 | conflict delete[0]`);
});

describe('a DNAME', () => {
  table(`
may coexist with other types, even at the apex | 1: @ MX 0 mx.example.net | create @ DNAME example.net / create s DNAME example.net / create s A 192.0.2.1 ; proxied | conflict create[1] / conflict create[2]
may have data at its own name | | create s DNAME example.net / create s A 192.0.2.1 / create s MX 0 mx.example.net | + s 300 DNAME example.net / + s 300 A 192.0.2.1 / + s 300 MX 0 mx.example.net
is accepted at the apex of a domain without other names | 1: @ MX 0 mx.example.net | create @ DNAME example.net | + @ 300 DNAME example.net
conflicts with a CNAME | 1: s CNAME example.net | create s DNAME example.net | conflict create[0]
may coexist with a proxied CNAME, which publishes addresses | 1: s CNAME example.net ; proxied | create s DNAME example.net | + s 300 DNAME example.net
conflicts with NS | 1: s NS ns.example.net | create s DNAME example.net | conflict create[0]
may exist only once at a name | 1: s DNAME example.net | create s DNAME example.org | conflict create[0]
has nothing below it, at any depth | 1: s DNAME example.net | create x.y.s TXT x / create s TXT x | conflict create[0]
has nothing proxied, no wildcard and no other DNAME below it | 1: s DNAME example.net | create a.s A 192.0.2.1 ; proxied / create *.s TXT x / create b.s DNAME example.org | conflict create[0] / conflict create[1] / conflict create[2]
has nothing below it at the apex | 1: @ DNAME example.net | create www A 192.0.2.1 | conflict create[0]
is refused above existing records | 1: www.s A 192.0.2.1 | create s DNAME example.net | conflict create[0]
is refused at the apex above existing records | 1: www.s A 192.0.2.1 | create @ DNAME example.net | conflict create[0]
is accepted above records deleted in the same call | 1: www.s A 192.0.2.1 | delete 1 / create s DNAME example.net | - 1: www.s 300 A 192.0.2.1 / + s 300 DNAME example.net
allows names below it when it is deleted | 1: s DNAME example.net | delete 1 / create www.s TXT x | - 1: s 300 DNAME example.net / + www.s 300 TXT x
has nothing below it if another record is changed to it | 1: s CNAME example.net / 2: www.s A 192.0.2.1 | update 1 type=DNAME | conflict update[0]
is refused at a wildcard | | create *.s DNAME example.net | invalid create[0] name`);
});

describe('the proxied flag', () => {
  table(`
requires edge addresses | | create www A 192.0.2.1 ; proxied | invalid create[0] proxied | noEdges
does not prevent other edits of an old record after the edges were removed | 1: www A 192.0.2.1 ; proxied | update 1 comment=x | ~ 1: www 300 A 192.0.2.1 ; proxied comment=x | noEdges
cannot stay if the type changes | 1: www A 192.0.2.1 ; proxied | update 1 type=TXT | invalid update[0] proxied
works at a wildcard | | create * A 192.0.2.1 ; proxied | + * 300 A 192.0.2.1 ; proxied`);
});

describe('the plan', () => {
  table(`
limits the number of records after the call | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c A 192.0.2.1 | plan_limit create[0] | twoRecords
allows replacing records at the limit | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | delete 1 / create c A 192.0.2.1 | - 1: a 300 A 192.0.2.1 / + c 300 A 192.0.2.1 | twoRecords
allows changes above the limit | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | update 1 ttl=60 | ~ 1: a 60 A 192.0.2.1 | oneRecord
forbids additions if it includes no records | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c A 192.0.2.1 | plan_limit create[0] | noRecords
forbids no other change if it includes no records | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | delete 1 / update 2 ttl=60 | - 1: a 300 A 192.0.2.1 / ~ 2: b 60 A 192.0.2.1 | noRecords
also counts replacements | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | replace a A: A 192.0.2.1, A 192.0.2.2 | plan_limit replace[0] | twoRecords
is checked after invalid values | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c 5 A 192.0.2.1 | invalid create[0] ttl | twoRecords
is checked before conflicts | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create a A 192.0.2.1 | plan_limit create[0] | twoRecords`);
});

describe('only the result matters, not the order', () => {
  table(`
a CNAME gives way to an address | 1: www CNAME web.example.net | delete 1 / create www A 192.0.2.1 | - 1: www 300 CNAME web.example.net / + www 300 A 192.0.2.1
two records swap their addresses | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 destination=192.0.2.2 / update 2 destination=192.0.2.1 | ~ 1: www 300 A 192.0.2.2 / ~ 2: www 300 A 192.0.2.1
two records swap their names | 1: a CNAME x.example.net / 2: b CNAME y.example.net | update 1 name=b / update 2 name=a | ~ 1: b 300 CNAME x.example.net / ~ 2: a 300 CNAME y.example.net
an update that makes a CNAME point to itself | 1: www CNAME w3.example.com | update 1 name=w3 | invalid update[0] destination`);
});

describe('replacing a record set', () => {
  table(`
keeps rows of equal rdata, reuses the others and adds the rest | 1: www A 192.0.2.1 ; comment=one / 2: www A 192.0.2.2 ; comment=two | replace www A: A 192.0.2.3, A 192.0.2.2, A 192.0.2.4 | ~ 1: www 300 A 192.0.2.3 ; comment=one / + www 300 A 192.0.2.4
assigns rows by id, for any order of the new records | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | replace www A: A 192.0.2.9, A 192.0.2.8 | ~ 1: www 300 A 192.0.2.8 / ~ 2: www 300 A 192.0.2.9
keeps one of equal rows for each equal record | 1: @ TXT x / 2: @ TXT x / 3: @ TXT y | replace @ TXT: TXT x | - 2: @ 300 TXT x / - 3: @ 300 TXT y
removes the remaining rows | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 / 3: www TXT x | replace www A: A 192.0.2.2 | - 1: www 300 A 192.0.2.1
deletes the set if there are no new records | 1: www A 192.0.2.1 / 2: www TXT x | replace www A: | - 1: www 300 A 192.0.2.1
creates the set if there is none | | replace _acme-challenge TXT: 60 TXT token | + _acme-challenge 60 TXT token
keeps it proxied | 1: www A 192.0.2.1 ; proxied | replace www A: A 192.0.2.2, A 192.0.2.3 | ~ 1: www 300 A 192.0.2.2 ; proxied / + www 300 A 192.0.2.3 ; proxied
sets its TTL | 1: www A 192.0.2.1 | replace www A: 900 A 192.0.2.1 | ~ 1: www 900 A 192.0.2.1
names the record at fault | | replace www A: A 192.0.2.1 ; proxied | invalid replace[0] records[0].proxied | noEdges
reports a problem of the whole set once | | replace www A: 5 A 192.0.2.1, A 192.0.2.2 | invalid replace[0] ttl
is refused twice in one call | | replace www A: / replace WWW A: | invalid replace[1]
conflicts if a record is given twice | | replace www A: A 192.0.2.1, A 192.0.2.1 | conflict replace[0]
is applied before updates and creates | 1: www A 192.0.2.1 | replace www A: A 192.0.2.2 / update 1 ttl=60 / create www A 192.0.2.3 | ~ 1: www 60 A 192.0.2.2 / + www 60 A 192.0.2.3`);
});

it('lists the names whose published records may differ', () => {
  const state = editState(['1: a A 192.0.2.1', '2: b 900 A 192.0.2.2']);
  const plan = planEdit(state, edit({ update: [[1, { name: 'c' }]], create: ['d TXT x'] }));
  expect(plan.kind === 'change' && plan.touched.map((name) => name.slice(1, 2))).toEqual(['a', 'c', 'd']);
  expect(plan.kind === 'change' && plan.recordCount).toBe(3);
});

it('records the last item that wrote a row, and the TTL that it gave', () => {
  const state = editState(['1: a 600 A 192.0.2.1', '2: b A 192.0.2.2', '3: c A 192.0.2.3']);
  const wanted = edit({
    delete: [2],
    update: [[1, { ttl: 60 }]],
    replace: [['d', 'TXT', '90 TXT x']],
    create: ['e A 192.0.2.5'],
  });
  const { rows, problems } = draftEdit(state, wanted);
  expect(problems).toEqual([]);
  expect(
    rows.map(({ before, after, item, explicitTtl }) => [
      before?.id,
      after && showRecord(after).replace(/ \d+ /, ' '),
      item && `${item.list}[${item.index}] ${item.path}`,
      explicitTtl,
    ]),
  ).toEqual([
    [1, 'a A 192.0.2.1', 'update[0] ', 60],
    [2, undefined, 'delete[0] ', undefined],
    [3, 'c A 192.0.2.3', undefined, undefined],
    [undefined, 'd TXT x', 'replace[0] records[0].', 90],
    [undefined, 'e A 192.0.2.5', 'create[0] ', undefined],
  ]);
});

it('an item may have another index in the caller’s list', () => {
  const wanted = edit({ create: ['a 5 A 192.0.2.1'] });
  const creates = wanted.creates.map((record) => ({ ...record, index: 41 }));
  expect(draftEdit(editState([]), { ...wanted, creates }).problems.map(showProblem)).toEqual([
    'invalid create[41] ttl',
  ]);
});

it('a restored row requires its id to be free', () => {
  const wanted = edit({ create: ['b A 192.0.2.1', 'c A 192.0.2.1'] });
  const restores = { id: 1, createdAt: '2026-01-01T00:00:00Z' };
  const creates = wanted.creates.map((record) => ({ ...record, restores }));
  const problemsIn = (lines: string[]) =>
    draftEdit(editState(lines), { ...wanted, creates }).problems.map(showProblem);
  expect(problemsIn(['1: a A 192.0.2.1'])).toEqual(['conflict create[0]', 'conflict create[1]']);
  expect(problemsIn([])).toEqual(['invalid create[1]']);
});

const print = (names: readonly (typeof APEX)[]) =>
  names.map((name) => printName(name).replace('.example.com.', ''));

describe('the names that an edit touches', () => {
  function needed(lines: EditLines, found: string[] = []) {
    const wanted = namesTouched(edit(lines), APEX, records(found));
    return { at: print(wanted.at), cutsAt: print(wanted.cutsAt), below: print(wanted.below) };
  }

  it('an edit of one name requires that name, and the delegations and DNAMEs above it', () => {
    expect(needed({ create: ['a.b.c A 192.0.2.1'] })).toEqual({
      at: ['a.b.c'],
      cutsAt: ['b.c', 'c', 'example.com.'],
      below: [],
    });
    expect(needed({ create: ['@ A 192.0.2.1', '@ MX 0 mx.example.net'] })).toEqual({
      at: ['example.com.'],
      cutsAt: [],
      below: [],
    });
  });

  it('a delegation requires the records below it, whether it is added, changed or deleted', () => {
    expect(needed({ create: ['s NS ns.example.net'] }).below).toEqual(['s']);
    expect(needed({ replace: [['s', 'NS', 'NS ns.example.net']] }).below).toEqual(['s']);
    expect(needed({ delete: [1] }, ['1: s NS ns.example.net']).below).toEqual(['s']);
    expect(needed({ update: [[1, { name: 't' }]] }, ['1: s NS ns.example.net'])).toEqual({
      at: ['s', 't'],
      cutsAt: ['example.com.'],
      below: ['s', 't'],
    });
    expect(needed({ update: [[1, { type: 'NS' }]] }, ['1: s CNAME ns.example.net']).below).toEqual(['s']);
    expect(needed({ delete: [1] }, ['1: s A 192.0.2.1']).below).toEqual([]);
  });

  it('a DNAME requires the records below it, even at the apex', () => {
    expect(needed({ create: ['s DNAME example.net'] }).below).toEqual(['s']);
    expect(needed({ create: ['@ DNAME example.net'] }).below).toEqual(['example.com.']);
    expect(needed({ update: [[1, { type: 'DNAME' }]] }, ['1: s CNAME example.net']).below).toEqual(['s']);
  });

  it('records are found by id first, including restored ones', () => {
    const wanted = edit({ delete: [1], update: [[2, { ttl: 60 }]] });
    const { name, type, rdata } = newRecord('a A 192.0.2.1');
    const restores = { id: 3, createdAt: '2026-01-01T00:00:00Z' };
    expect(idsTouched({ ...wanted, creates: [{ name, type, rdata, restores }] })).toEqual([1, 2, 3]);
    expect(idsTouched(NO_EDIT)).toEqual([]);
    expect(namesTouched(wanted, APEX, [])).toEqual({ at: [], cutsAt: [], below: [] });
  });
});

const messages = (lines: string[], wanted: EditLines) =>
  inOneGo(findConflicts(draftEdit(editState(lines), edit(wanted)).rows, APEX)).map(
    ({ list, index, message }) => `${list}[${index}]: ${message}`,
  );

it.each(
  rowsOf(`
a TXT x | a CNAME b.example.net | a.example.com. has other records: a CNAME must be the only record of its name
a CNAME b.example.net | a TXT x | a.example.com. has a CNAME: no other record can exist there
a A 192.0.2.1 | a ANAME b.example.net | a.example.com. has addresses: an ANAME provides its own, so A and AAAA records are not allowed there
a ANAME b.example.net | a A 192.0.2.1 | a.example.com. has an ANAME, which provides its addresses
a A 192.0.2.1 | a A 192.0.2.1 | this A record already exists at a.example.com.
a A 192.0.2.1 | a A 192.0.2.2 ; proxied | the A, AAAA, CNAME and ANAME records at a.example.com. must all be proxied or none
s DNAME example.net | s DNAME example.org | s.example.com. can have only one DNAME
s DNAME example.net | w.s A 192.0.2.1 | w.s.example.com. is below the DNAME at s.example.com.: a name below a DNAME cannot have records
w.s A 192.0.2.1 | s DNAME example.net | w.s.example.com. is below the DNAME at s.example.com.: a name below a DNAME cannot have records
s NS ns.example.net | w.s A 192.0.2.1 | w.s.example.com. is below the delegation s.example.com.: only unproxied addresses of hosts that the domain's NS records point to are allowed there`),
)('the conflict of %s with a new %s is reported', (line, wanted = '', expected) => {
  expect(messages([`1: ${line}`], { create: [wanted] })).toEqual([`create[0]: ${expected}`]);
});

it('reports the items that do not fit if a set is too large', () => {
  const big = 'x'.repeat(40_000);
  expect(messages(['1: a TXT small'], { create: [`a TXT ${big}`, `a TXT y${big}`, 'a TXT z'] })).toEqual([
    'create[1]: the TXT records at a.example.com. would not fit into a DNS message',
  ]);
});

it('reports new records of a name that would have more than 100 types, and not its former ones', () => {
  const types = Array.from({ length: 100 }, (_, i) => `a TYPE${1000 + i} \\# 1 00`);
  const stored = types.map((line, i) => `${i + 1}: ${line}`);
  expect(messages(stored, { create: ['a TYPE1000 \\# 1 01'] })).toEqual([]);
  expect(messages(stored, { create: ['a TYPE1100 \\# 1 00'], update: [[1, { ttl: 60 }]] })).toEqual([
    'create[0]: a.example.com. cannot have records of more than 100 types',
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

it('reports one problem per item', () => {
  expect(messages(['1: a A 192.0.2.1', '2: a TXT x'], { create: ['a CNAME b.example.net'] })).toHaveLength(1);
});

it('uses the topmost delegation', () => {
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
may be added, even for a sibling | create ns.b AAAA 2001:db8::1 / create ns1.a A 192.0.2.3 |
is refused for a host that no NS record names | create ns2.b A 192.0.2.1 | create[0]: ns2.b.example.com.
does not include other types | create ns.b TXT x | create[0]: ns.b.example.com.
cannot be proxied | update 6 proxied=true | update[0]: ns.b.example.com.
cannot remain without its delegation | create t TXT x / delete 2 | delete[0]: ns.b.example.com.
may be deleted with its delegation | delete 2 6 |
cannot remain if its delegation names another host, whatever else changes at its cut | update 2 destination=ns1.b.example.com / create b NS ns2.example.net | update[0]: ns.b.example.com.
can be used by another delegation | delete 2 / create c NS ns.b.example.com |
is no longer glue if its cut is deleted | delete 2 4 |
of its own delegation may become a sibling’s | delete 1 / create c NS NS1.A.example.com |
cannot remain without its own NS, even if the delegation has other hosts | delete 1 | delete[0]: ns1.a.example.com.
may be at a cut | create c NS b.example.com / create b A 192.0.2.1 |
does not make its host a delegation | create x.ns.b A 192.0.2.1 | create[0]: x.ns.b.example.com.`),
  )('%s', (_, wanted, expected) => {
    expect(blamed(delegated, editLines(itemsOf(wanted)))).toEqual(itemsOf(expected));
  });

  it('allows a new cut above it', () => {
    const lines = ['1: a NS ns.b.example.com', '2: ns.b A 192.0.2.1'];
    expect(blamed(lines, { create: ['b NS ns.example.net'] })).toEqual([]);
    expect(blamed([...lines, '3: www.b A 192.0.2.1'], { create: ['b NS ns.example.net'] })).toEqual([
      'create[0]: www.b.example.com.',
    ]);
  });
});

describe('the glue that an edit requires', () => {
  /** `lines` are all records of the domain. */
  function needed(wanted: EditLines, lines: string[]) {
    const found = records(lines);
    const touched = namesTouched(edit(wanted), APEX, found);
    return {
      hosts: print(formerHosts(touched, APEX, found)).sort(),
      glue: print(possibleGlue(touched, APEX, found)).sort(),
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

  it('a written delegation requires the hosts in the domain that it named before', () => {
    expect(needed({ delete: [1] }, DELEGATED).hosts).toEqual(['ns.b']);
    expect(needed({ create: ['b NS x.example.net'] }, DELEGATED).hosts).toEqual(['ns.b']);
    expect(needed({ create: ['c NS www.example.com'] }, DELEGATED).hosts).toEqual([]);
    expect(needed({ create: ['www A 192.0.2.2'] }, DELEGATED).hosts).toEqual([]);
  });

  it('names at and below delegations require an NS record that names them', () => {
    expect(needed({ create: ['x.b A 192.0.2.1'] }, DELEGATED).glue).toEqual(['ns.b', 'x.b']);
    expect(needed({ create: ['b A 192.0.2.1'] }, DELEGATED).glue).toEqual(['b', 'ns.b']);
    expect(needed({ create: ['www NS ns.example.net'] }, ['1: x.www A 192.0.2.1']).glue).toEqual([
      'www',
      'x.www',
    ]);
    expect(needed({ create: ['www A 192.0.2.2'] }, ['1: www A 192.0.2.1']).glue).toEqual([]);
  });
});

describe('a restricted key', () => {
  const records = [
    { name: parseName('www.example.com.'), type: 'A' },
    { name: parseName('mail.example.com.'), type: 'MX' },
  ];

  test('an unrestricted key writes every record', () => {
    expect(judgeNarrowedWrite({ names: null, types: null }, records)).toBeUndefined();
  });

  test('a single record outside its names or types refuses the write', () => {
    const names = ['www.example.com', 'mail.example.com'];
    expect(judgeNarrowedWrite({ names, types: ['A', 'MX'] }, records)).toBeUndefined();
    expect(judgeNarrowedWrite({ names: names.slice(0, 1), types: null }, records)).toMatch(/at that name/);
    expect(judgeNarrowedWrite({ names, types: ['A'] }, records)).toMatch(/MX records/);
    expect(judgeNarrowedWrite({ names: [], types: [] }, [])).toBeUndefined();
  });
});

const problemsOf = (text: EditText) => {
  const parsed = parseEdit(text, APEX);
  return parsed.kind === 'problems' ? parsed.problems.map(showProblem) : [];
};

it('every list is read, with the given fields', () => {
  const www = { name: 'WWW', type: 'A', destination: '192.0.2.1', proxied: true } as const;
  const parsed = parseEdit(
    {
      create: [{ ...www, host_header: 'o.example.net', dest_country: 'SE' }],
      update: [{ id: 4, name: 'b', destination: 'x', mx_priority: 5, comment: '', host_header: '' }],
      delete: [7],
      replace: [
        { name: '@', type: 'MX', ttl: 60, records: [{ destination: 'mx.example.net', mx_priority: 1 }] },
      ],
    },
    APEX,
  );
  const [wwwName, bName] = ['www.example.com.', 'b.example.com.'].map((text) => parseName(text));
  const settings = { proxied: true, hostHeader: 'o.example.net', destCountry: 'SE' };
  const mx = Uint8Array.from(Buffer.from('\0\x01\x02mx\x07example\x03net\0', 'latin1'));
  expect(parsed).toEqual({
    kind: 'edit',
    edit: {
      deletes: [{ id: 7 }],
      updates: [
        { id: 4, set: { name: bName, destination: 'x', mxPriority: 5, comment: null, hostHeader: null } },
      ],
      creates: [{ name: wwwName, type: 'A', rdata: Uint8Array.of(192, 0, 2, 1), ...settings }],
      replaces: [{ name: APEX, type: 'MX', ttl: 60, records: [{ rdata: mx }] }],
    },
  });
});

describe('errors in an edit', () => {
  it('are all reported, each for its item', () => {
    expect(
      problemsOf({
        create: [
          { name: 'a', type: 'A', destination: '192.0.2.1' },
          { name: 'a..b', type: 'A', destination: 'x' },
          { name: 'm', type: 'MX', destination: 'mx.example.net' },
        ],
        update: [{ id: 1, name: 'www.example.org.' }],
        replace: [
          { name: 'a.*', type: 'A', records: [{ destination: '192.0.2.1' }, { destination: '::1' }] },
        ],
      }).sort(),
    ).toEqual([
      'invalid create[1] destination',
      'invalid create[1] name',
      'invalid create[2] mx_priority',
      'invalid replace[0] name',
      'invalid replace[0] records[1].destination',
      'invalid update[0] name',
    ]);
  });

  it('in an update’s destination are found once the record’s type is known', () => {
    expect(problemsOf({ update: [{ id: 1, destination: 'not an address' }] })).toEqual([]);
  });
});

/** Returns the change that the first edit made, and the records after all edits. */
function history(lines: readonly string[], first: EditLines, ...later: EditLines[]) {
  let current = records(lines);
  let nextId = 100;
  const run = (wanted: EditLines): SavedOperation[] => {
    const plan = planEdit(editState([], { records: current, recordCount: current.length }), edit(wanted));
    if (plan.kind === 'problems') throw new Error(JSON.stringify(plan.problems));
    const known = new Set(current.map(({ id }) => id));
    current = applied(current, plan.ops, nextId);
    nextId += 100;
    const made = current.filter(({ id }) => !known.has(id));
    return plan.ops.map((op) =>
      op.op === 'create' ? { op: 'create', after: made.shift() as CustomerRecord } : op,
    );
  };
  const ops = run(first);
  for (const wanted of later) run(wanted);
  return { ops, current };
}

function reverted(lines: readonly string[], first: EditLines, ...later: EditLines[]): string[] {
  const { ops, current } = history(lines, first, ...later);
  const revert = planRevert(ops, current);
  if (revert.kind === 'conflict') return [`conflict ${revert.ids.join(' ')}: ${revert.message}`];
  return showPlan(planEdit(editState([], { records: current, recordCount: current.length }), revert.edit));
}

/** Each row: name | records | first edit, `then` later edits | what the revert does. */
it.each(
  rowsOf(`
deletes created records | | create www A 192.0.2.1 | - 100: www 300 A 192.0.2.1
restores deleted records, with their ids and settings | 7: www 600 A 192.0.2.1 ; proxied captcha comment=web | delete 7 | + 7: www 600 A 192.0.2.1 ; proxied captcha comment=web
restores the old value of every field | 7: www 600 A 192.0.2.1 ; proxied comment=web | update 7 name=w3 type=CNAME destination=a.example.net ttl=60 proxied=false comment= | ~ 7: www 600 A 192.0.2.1 ; proxied comment=web
restores the old TTL of a whole set | 1: a 600 A 192.0.2.1 / 2: a 600 A 192.0.2.2 | create a 60 A 192.0.2.3 | - 100: a 60 A 192.0.2.3 / ~ 1: a 600 A 192.0.2.1 / ~ 2: a 600 A 192.0.2.2
keeps the TTL of a set that was changed later | 1: a 600 A 192.0.2.1 / 2: a 600 A 192.0.2.2 | delete 1 then update 2 ttl=60 | + 1: a 60 A 192.0.2.1
restores equal TXT | 1: @ TXT x / 2: @ TXT x | delete 1 | + 1: @ 300 TXT x
restores the value of one of two equal TXT | 1: @ TXT x / 2: @ TXT x | update 1 destination=y | ~ 1: @ 300 TXT x
keeps records that were added later | 1: a A 192.0.2.1 | update 1 destination=192.0.2.9 then create b TXT x | ~ 1: a 300 A 192.0.2.1
conflicts if a later change altered a created record | | create www A 192.0.2.1 then update 100 comment=x | conflict 100: a later change touched record 100 of this change
conflicts if a later change deleted a created record | | create www A 192.0.2.1 then delete 100 | conflict 100: a later change touched record 100 of this change
conflicts if a later change deleted an altered record | 1: a A 192.0.2.1 | update 1 ttl=60 then delete 1 | conflict 1: a later change touched record 1 of this change
conflicts if a later change altered an altered record | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | update 1 ttl=60 / update 2 ttl=60 then update 1 ttl=90 / update 2 ttl=90 | conflict 1 2: a later change touched 2 records of this change
conflicts if a later change gave the set another TTL | | create www A 192.0.2.1 then create www 60 A 192.0.2.2 | conflict 100: a later change touched record 100 of this change
conflicts if a CNAME was added at the name later | 1: a A 192.0.2.1 | delete 1 then create a CNAME b.example.net | conflict create[0]
conflicts if the same record was added later | 1: a A 192.0.2.1 | delete 1 then create a A 192.0.2.1 | conflict create[0]
deletes created records if later changes cancel each other | | create www A 192.0.2.1 then update 100 ttl=60 then update 100 ttl=300 | - 100: www 300 A 192.0.2.1`),
)('a revert %s', (_, lines, edits = '', expected) => {
  const [first = {}, ...later] = edits.split(' then ').map((one) => editLines(itemsOf(one)));
  expect(reverted(itemsOf(lines), first, ...later)).toEqual(itemsOf(expected));
});

it('a revert conflicts if the deleted record, with its id, exists again', () => {
  const { ops } = history(['1: a A 192.0.2.1'], { delete: [1] });
  expect(planRevert(ops, records(['1: a A 192.0.2.1'])).kind).toBe('conflict');
});

it('reverting a revert restores the change', () => {
  const { ops, current } = history(['1: a A 192.0.2.1'], { delete: [1] });
  const revert = planRevert(ops, current);
  const back = planEdit(editState([]), revert.kind === 'edit' ? revert.edit : edit({}));
  const after = applied(current, back.kind === 'change' ? back.ops : []);
  expect(after.map((record) => showRecord(record))).toEqual(['a 300 A 192.0.2.1']);
  const again = planRevert([{ op: 'create', after: after[0] as CustomerRecord }], after);
  expect(again.kind === 'edit' && again.edit.deletes).toEqual([{ id: 1 }]);
});

describe('the scope of a key', () => {
  it('is unrestricted by default', () => {
    expect(readKeyScope({})).toEqual({ kind: 'scope', scope: { domains: null, names: null, types: null } });
  });

  it('is in the canonical form that keys are compared in', () => {
    expect(
      readKeyScope({
        domains: ['Shop.example.', 'SHOP.example', 'bücher.de'],
        names: ['*.Shop.example', '_dmarc.shop.example.'],
        types: ['a', 'Txt', 'A'],
      }),
    ).toEqual({
      kind: 'scope',
      scope: {
        domains: ['shop.example', 'xn--bcher-kva.de'],
        names: ['*.shop.example', '_dmarc.shop.example'],
        types: ['A', 'TXT'],
      },
    });
  });

  it.each([
    [{ domains: ['a.com', 'a..b'] }, 'domains', 1, /./],
    [{ names: ['a b.com'] }, 'names', 0, /./],
    [{ types: ['A', 'SOA'] }, 'types', 1, /^the type must be one of A, AAAA.*, not "SOA"$/],
    [{ types: ['TYPE99'] }, 'types', 0, /^TYPE99 is SPF/],
    [{ domains: ['a.com'], names: ['a.com', 'www.b.com'] }, 'names', 1, /^www\.b\.com is not in any of/],
  ])('%j is refused, with the invalid item', (lists, field, index, message) => {
    const problem = { kind: 'problem', field, index, message: expect.stringMatching(message) };
    expect(readKeyScope(lists)).toEqual(problem);
  });
});

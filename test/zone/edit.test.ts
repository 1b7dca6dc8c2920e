import { describe, expect, it } from 'vitest';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { edit, editLines, editState, NO_EDGES, showPlan } from '../support/zone/customer-records.ts';
import { planEdit } from '../support/zone/plan-edit.ts';

const DIGEST = '0'.repeat(64);
const list = (cell = '') => itemsOf(cell.replaceAll('DIGEST', DIGEST));

const STATES = {
  none: {},
  managed: { managedIds: new Set([9]) },
  noEdges: { edges: NO_EDGES },
  noPlan: { hasPlan: false },
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

describe('one item', () => {
  table(`
a new record has a TTL of 300 | | create www A 192.0.2.1 | + www 300 A 192.0.2.1
a record is deleted | 1: www A 192.0.2.1 | delete 1 | - 1: www 300 A 192.0.2.1
an update changes what it names and nothing else | 1: www 600 A 192.0.2.1 ; proxied comment=web | update 1 destination=192.0.2.2 | ~ 1: www 600 A 192.0.2.2 ; proxied comment=web
an update may change name and type | 1: www A 192.0.2.1 | update 1 name=w3 type=AAAA destination=2001:db8::5 | ~ 1: w3 300 AAAA 2001:db8::5
a CNAME becomes an ANAME with the same target | 1: www CNAME web.example.net | update 1 type=ANAME | ~ 1: www 300 ANAME web.example.net
an MX that becomes a CNAME loses its priority | 1: www MX 10 web.example.net | update 1 type=CNAME | ~ 1: www 300 CNAME web.example.net
a CNAME that becomes an MX needs a priority | 1: www CNAME web.example.net | update 1 type=MX | invalid update[0] mx_priority
the priority of an MX changes alone | 1: @ MX 10 mx.example.net | update 1 mx_priority=20 | ~ 1: @ 300 MX 20 mx.example.net
an address that becomes a CNAME needs a new destination | 1: www A 192.0.2.1 | update 1 type=CNAME | invalid update[0] destination
an update with the values that are there is no change | 1: www 300 A 192.0.2.1 | update 1 name=www type=A ttl=300 destination=192.0.2.1 |
a record that is not there is not found | | delete 2 / update 1 ttl=60 | not_found delete[0] id / not_found update[0] id
a record is listed once in a call | 1: www A 192.0.2.1 | delete 1 1 | invalid delete[1]
what the service manages stays | | delete 9 | managed delete[0] | managed`);
});

describe('one TTL per record set', () => {
  table(`
a new record takes the TTL of its set | 1: www 900 A 192.0.2.1 | create www A 192.0.2.2 | + www 900 A 192.0.2.2
another TTL changes the whole set | 1: www 900 A 192.0.2.1 / 2: www 900 AAAA 2001:db8::5 | create www 60 A 192.0.2.2 | ~ 1: www 60 A 192.0.2.1 / + www 60 A 192.0.2.2
an update of one TTL changes its siblings | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 ttl=600 | ~ 1: www 600 A 192.0.2.1 / ~ 2: www 600 A 192.0.2.2
of two new TTLs in one call the lower one counts | 1: www A 192.0.2.1 | create www 900 A 192.0.2.2 / create www 600 A 192.0.2.3 | ~ 1: www 600 A 192.0.2.1 / + www 600 A 192.0.2.2 / + www 600 A 192.0.2.3
a TTL that the set has does not stop another one | 1: www 300 A 192.0.2.1 | create www 300 A 192.0.2.2 / create www 600 A 192.0.2.3 | ~ 1: www 600 A 192.0.2.1 / + www 600 A 192.0.2.2 / + www 600 A 192.0.2.3
a record that moves into a set takes its TTL | 1: a 60 A 192.0.2.1 / 2: b 900 A 192.0.2.2 | update 1 name=b | ~ 1: b 900 A 192.0.2.1
a record that moves to a free name keeps its TTL | 1: a 60 A 192.0.2.1 | update 1 name=b | ~ 1: b 60 A 192.0.2.1
a set made anew keeps its TTL | 1: a 60 A 192.0.2.1 | delete 1 / create a A 192.0.2.2 | - 1: a 60 A 192.0.2.1 / + a 60 A 192.0.2.2
a TTL below 60 or above 86400 is wrong | | create a 59 A 192.0.2.1 / create b 86401 A 192.0.2.1 / create c 60 A 192.0.2.1 / create d 86400 A 192.0.2.1 | invalid create[0] ttl / invalid create[1] ttl`);
});

describe('conflicts', () => {
  table(`
a proxied CNAME stands beside MX and TXT | 1: www TXT x | create www CNAME web.example.net ; proxied / create www MX 0 mx.example.net | + www 300 CNAME web.example.net ; proxied / + www 300 MX 0 mx.example.net
a CNAME that is proxied no more conflicts | 1: www TXT x / 2: www CNAME web.example.net ; proxied | update 2 proxied=false | conflict update[0]
one CNAME at a name, even proxied | 1: www CNAME a.example.net ; proxied | create www CNAME b.example.net ; proxied | conflict create[0]
one of CNAME and ANAME at a name | 1: www CNAME a.example.net ; proxied | create www ANAME b.example.net ; proxied | conflict create[0]
an ANAME stands beside MX and TXT at the apex | 1: @ MX 0 mx.example.net | create @ ANAME a.example.net / create @ TXT x | + @ 300 ANAME a.example.net / + @ 300 TXT x
proxied address-like records stand side by side | 1: www A 192.0.2.1 ; proxied | create www AAAA 2001:db8::5 ; proxied / create www ANAME a.example.net ; proxied | + www 300 AAAA 2001:db8::5 ; proxied / + www 300 ANAME a.example.net ; proxied
all are proxied in one call | 1: www A 192.0.2.1 / 2: www AAAA 2001:db8::5 | update 1 proxied=true / update 2 proxied=true | ~ 1: www 300 A 192.0.2.1 ; proxied / ~ 2: www 300 AAAA 2001:db8::5 ; proxied
the same target in another case | 1: @ MX 5 mx.example.net | create @ MX 5 MX.Example.NET | conflict create[0]
another priority is another record | 1: @ MX 5 mx.example.net | create @ MX 6 mx.example.net | + @ 300 MX 6 mx.example.net
the same record twice in one call | | create www A 192.0.2.1 / create www A 192.0.2.1 | conflict create[1]
an update to what another record has | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 destination=192.0.2.2 | conflict update[0]
equal TXT that were imported do not disturb an edit of one of them | 1: @ TXT x / 2: @ TXT x | update 2 comment=second | ~ 2: @ 300 TXT x ; comment=second
old conflicts that nothing touches are no obstacle | 1: www CNAME a.example.net / 2: www TXT x | create other A 192.0.2.1 | + other 300 A 192.0.2.1`);

  it('an equal TXT may be added where the caller says so', () => {
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

  it('a record set that no message could hold', () => {
    const create = Array.from({ length: 4100 }, (_, i) => `big A 10.0.${i >> 8}.${i & 255}`);
    expect(showPlan(planEdit(editState([]), edit({ create })))[0]).toBe('conflict create[4062]');
    expect(planEdit(editState([]), edit({ create: create.slice(0, 4000) })).kind).toBe('change');
  });
});

describe('the apex', () => {
  table(`
has no DS | | create @ DS 1 13 2 DIGEST | invalid create[0] type
keeps its CNAME proxied | 1: @ CNAME web.example.net ; proxied | update 1 proxied=false | invalid update[0] type
keeps the nameservers of the service | | replace @ NS: | managed replace[0]
takes no replacement of the nameservers | | replace @ NS: NS ns.example.net, NS ns.example.org | invalid replace[0] type`);
});

describe('delegations', () => {
  table(`
with glue below | | create sub NS ns1.sub.example.com / create sub NS ns.example.net / create ns1.sub A 192.0.2.1 / create ns1.sub AAAA 2001:db8::5 | + sub 300 NS ns1.sub.example.com / + sub 300 NS ns.example.net / + ns1.sub 300 A 192.0.2.1 / + ns1.sub 300 AAAA 2001:db8::5
the name itself may be its nameserver | 1: sub NS sub.example.com | create sub A 192.0.2.1 | + sub 300 A 192.0.2.1
nothing but NS, DS and glue at the name | 1: sub NS ns.example.net | create sub TXT x / create sub A 192.0.2.1 | conflict create[0] / conflict create[1]
no wildcard below | 1: sub NS ns.example.net | create *.sub A 192.0.2.1 | conflict create[0]
no delegation below a delegation | 1: sub NS ns.example.net | create a.b.sub NS ns.example.org | conflict create[0]
not above what is there | 1: www.sub A 192.0.2.1 | create sub NS ns.example.net | conflict create[0]
above records that go in the same call | 1: www.sub A 192.0.2.1 | delete 1 / create sub NS ns.example.net | - 1: www.sub 300 A 192.0.2.1 / + sub 300 NS ns.example.net
without NS the names below are ordinary again | 1: sub NS ns1.sub.example.com / 2: ns1.sub A 192.0.2.1 | delete 1 / create www.sub TXT x | - 1: sub 300 NS ns1.sub.example.com / + www.sub 300 TXT x
a DS needs NS | | create sub DS 1 13 2 DIGEST | conflict create[0]
a DS beside NS | 1: sub NS ns.example.net | create sub DS 1 13 2 DIGEST | + sub 300 DS 1 13 2 DIGEST
NS do not go before their DS | 1: sub NS ns.example.net / 2: sub DS 1 13 2 DIGEST | delete 1 | conflict delete[0]`);
});

describe('proxied', () => {
  table(`
needs edge addresses | | create www A 192.0.2.1 ; proxied | invalid create[0] proxied | noEdges
of an old record does not hinder other edits when the edges are gone | 1: www A 192.0.2.1 ; proxied | update 1 comment=x | ~ 1: www 300 A 192.0.2.1 ; proxied comment=x | noEdges
cannot stay when the type changes | 1: www A 192.0.2.1 ; proxied | update 1 type=TXT | invalid update[0] proxied
works at a wildcard | | create * A 192.0.2.1 ; proxied | + * 300 A 192.0.2.1 ; proxied`);
});

describe('the plan', () => {
  table(`
limits the count after the call | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c A 192.0.2.1 | plan_limit create[0] | twoRecords
allows to exchange records at the limit | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | delete 1 / create c A 192.0.2.1 | - 1: a 300 A 192.0.2.1 / + c 300 A 192.0.2.1 | twoRecords
allows changes beyond the limit | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | update 1 ttl=60 | ~ 1: a 60 A 192.0.2.1 | oneRecord
that is missing forbids to add | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c A 192.0.2.1 | no_active_plan create[0] | noPlan
that is missing forbids no change | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | delete 1 / update 2 ttl=60 | - 1: a 300 A 192.0.2.1 / ~ 2: b 60 A 192.0.2.1 | noPlan
counts replacements too | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | replace a A: A 192.0.2.1, A 192.0.2.2 | plan_limit replace[0] | twoRecords
comes after bad values | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create c 5 A 192.0.2.1 | invalid create[0] ttl | twoRecords
comes before conflicts | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | create a A 192.0.2.1 | plan_limit create[0] | twoRecords`);
});

describe('the result counts, not the order', () => {
  table(`
a CNAME gives way to an address | 1: www CNAME web.example.net | delete 1 / create www A 192.0.2.1 | - 1: www 300 CNAME web.example.net / + www 300 A 192.0.2.1
two records swap their addresses | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | update 1 destination=192.0.2.2 / update 2 destination=192.0.2.1 | ~ 1: www 300 A 192.0.2.2 / ~ 2: www 300 A 192.0.2.1
two records swap their names | 1: a CNAME x.example.net / 2: b CNAME y.example.net | update 1 name=b / update 2 name=a | ~ 1: b 300 CNAME x.example.net / ~ 2: a 300 CNAME y.example.net
an update that makes a CNAME point to itself | 1: www CNAME w3.example.com | update 1 name=w3 | invalid update[0] destination`);
});

describe('replacing a record set', () => {
  table(`
keeps rows of equal rdata, reuses the others and adds the rest | 1: www A 192.0.2.1 ; comment=one / 2: www A 192.0.2.2 ; comment=two | replace www A: A 192.0.2.3, A 192.0.2.2, A 192.0.2.4 | ~ 1: www 300 A 192.0.2.3 ; comment=one / + www 300 A 192.0.2.4
takes rows by id, whatever the order of the new records | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 | replace www A: A 192.0.2.9, A 192.0.2.8 | ~ 1: www 300 A 192.0.2.8 / ~ 2: www 300 A 192.0.2.9
keeps one of equal rows for each equal record | 1: @ TXT x / 2: @ TXT x / 3: @ TXT y | replace @ TXT: TXT x | - 2: @ 300 TXT x / - 3: @ 300 TXT y
removes what is left over | 1: www A 192.0.2.1 / 2: www A 192.0.2.2 / 3: www TXT x | replace www A: A 192.0.2.2 | - 1: www 300 A 192.0.2.1
with nothing deletes it | 1: www A 192.0.2.1 / 2: www TXT x | replace www A: | - 1: www 300 A 192.0.2.1
makes it where there is none | | replace _acme-challenge TXT: 60 TXT token | + _acme-challenge 60 TXT token
keeps it proxied | 1: www A 192.0.2.1 ; proxied | replace www A: A 192.0.2.2, A 192.0.2.3 | ~ 1: www 300 A 192.0.2.2 ; proxied / + www 300 A 192.0.2.3 ; proxied
sets its TTL | 1: www A 192.0.2.1 | replace www A: 900 A 192.0.2.1 | ~ 1: www 900 A 192.0.2.1
names the record at fault | | replace www A: A 192.0.2.1 ; proxied | invalid replace[0] records[0].proxied | noEdges
says once what is wrong with all of it | | replace www A: 5 A 192.0.2.1, A 192.0.2.2 | invalid replace[0] ttl
twice in one call is refused | | replace www A: / replace WWW A: | invalid replace[1]
with the same record twice conflicts | | replace www A: A 192.0.2.1, A 192.0.2.1 | conflict replace[0]
goes before updates and creates | 1: www A 192.0.2.1 | replace www A: A 192.0.2.2 / update 1 ttl=60 / create www A 192.0.2.3 | ~ 1: www 60 A 192.0.2.2 / + www 60 A 192.0.2.3`);
});

it('reports the names whose published records may differ', () => {
  const state = editState(['1: a A 192.0.2.1', '2: b 900 A 192.0.2.2']);
  const plan = planEdit(state, edit({ update: [[1, { name: 'c' }]], create: ['d TXT x'] }));
  expect(plan.kind === 'change' && plan.touched.map((name) => name.slice(1, 2))).toEqual(['a', 'c', 'd']);
  expect(plan.kind === 'change' && plan.recordCount).toBe(3);
});

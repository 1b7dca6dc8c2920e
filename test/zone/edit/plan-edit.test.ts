import { describe, expect, it } from 'vitest';
import {
  type EditLines,
  edit,
  editState,
  NO_EDGES,
  type StateOptions,
  showPlan,
} from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

interface Case {
  name: string;
  records: string[];
  edit: EditLines;
  state?: StateOptions;
  expect: string[];
}

function table(cases: Case[]): void {
  it.each(cases)('$name', ({ records, edit: lines, state, expect: expected }) => {
    expect(showPlan(planEdit(editState(records, state), edit(lines)))).toEqual(expected);
  });
}

describe('one item', () => {
  table([
    {
      name: 'a new record has a TTL of 300',
      records: [],
      edit: { create: ['www A 192.0.2.1'] },
      expect: ['+ www 300 A 192.0.2.1'],
    },
    {
      name: 'a record is deleted',
      records: ['1: www A 192.0.2.1'],
      edit: { delete: [1] },
      expect: ['- 1: www 300 A 192.0.2.1'],
    },
    {
      name: 'an update changes what it names and nothing else',
      records: ['1: www 600 A 192.0.2.1 ; proxied comment=web'],
      edit: { update: [[1, { destination: '192.0.2.2' }]] },
      expect: ['~ 1: www 600 A 192.0.2.2 ; proxied comment=web'],
    },
    {
      name: 'an update may change name and type',
      records: ['1: www A 192.0.2.1'],
      edit: { update: [[1, { name: 'w3', type: 'AAAA', destination: '2001:db8::5' }]] },
      expect: ['~ 1: w3 300 AAAA 2001:db8::5'],
    },
    {
      name: 'a CNAME becomes an ANAME with the same target',
      records: ['1: www CNAME web.example.net'],
      edit: { update: [[1, { type: 'ANAME' }]] },
      expect: ['~ 1: www 300 ANAME web.example.net'],
    },
    {
      name: 'an MX that becomes a CNAME loses its priority',
      records: ['1: www MX 10 web.example.net'],
      edit: { update: [[1, { type: 'CNAME' }]] },
      expect: ['~ 1: www 300 CNAME web.example.net'],
    },
    {
      name: 'a CNAME that becomes an MX needs a priority',
      records: ['1: www CNAME web.example.net'],
      edit: { update: [[1, { type: 'MX' }]] },
      expect: ['invalid update[0] mx_priority'],
    },
    {
      name: 'the priority of an MX changes alone',
      records: ['1: @ MX 10 mx.example.net'],
      edit: { update: [[1, { mx_priority: 20 }]] },
      expect: ['~ 1: @ 300 MX 20 mx.example.net'],
    },
    {
      name: 'an address that becomes a CNAME needs a new destination',
      records: ['1: www A 192.0.2.1'],
      edit: { update: [[1, { type: 'CNAME' }]] },
      expect: ['invalid update[0] destination'],
    },
    {
      name: 'an update with the values that are there is no change',
      records: ['1: www 300 A 192.0.2.1'],
      edit: { update: [[1, { name: 'www', type: 'A', ttl: 300, destination: '192.0.2.1' }]] },
      expect: [],
    },
    {
      name: 'a record that is not there is not found',
      records: [],
      edit: { update: [[1, { ttl: 60 }]], delete: [2] },
      expect: ['not_found delete[0] id', 'not_found update[0] id'],
    },
    {
      name: 'a record is listed once in a call',
      records: ['1: www A 192.0.2.1'],
      edit: { delete: [1, 1] },
      expect: ['invalid delete[1]'],
    },
    {
      name: 'what the service manages stays',
      records: [],
      edit: { delete: [9] },
      state: { managedIds: new Set([9]) },
      expect: ['managed delete[0]'],
    },
  ]);
});

describe('one TTL per record set', () => {
  table([
    {
      name: 'a new record takes the TTL of its set',
      records: ['1: www 900 A 192.0.2.1'],
      edit: { create: ['www A 192.0.2.2'] },
      expect: ['+ www 900 A 192.0.2.2'],
    },
    {
      name: 'another TTL changes the whole set',
      records: ['1: www 900 A 192.0.2.1', '2: www 900 AAAA 2001:db8::5'],
      edit: { create: ['www 60 A 192.0.2.2'] },
      expect: ['~ 1: www 60 A 192.0.2.1', '+ www 60 A 192.0.2.2'],
    },
    {
      name: 'an update of one TTL changes its siblings',
      records: ['1: www A 192.0.2.1', '2: www A 192.0.2.2'],
      edit: { update: [[1, { ttl: 600 }]] },
      expect: ['~ 1: www 600 A 192.0.2.1', '~ 2: www 600 A 192.0.2.2'],
    },
    {
      name: 'of two new TTLs in one call the lower one counts',
      records: ['1: www A 192.0.2.1'],
      edit: { create: ['www 900 A 192.0.2.2', 'www 600 A 192.0.2.3'] },
      expect: ['~ 1: www 600 A 192.0.2.1', '+ www 600 A 192.0.2.2', '+ www 600 A 192.0.2.3'],
    },
    {
      name: 'a TTL that the set has does not stop another one',
      records: ['1: www 300 A 192.0.2.1'],
      edit: { create: ['www 300 A 192.0.2.2', 'www 600 A 192.0.2.3'] },
      expect: ['~ 1: www 600 A 192.0.2.1', '+ www 600 A 192.0.2.2', '+ www 600 A 192.0.2.3'],
    },
    {
      name: 'a record that moves into a set takes its TTL',
      records: ['1: a 60 A 192.0.2.1', '2: b 900 A 192.0.2.2'],
      edit: { update: [[1, { name: 'b' }]] },
      expect: ['~ 1: b 900 A 192.0.2.1'],
    },
    {
      name: 'a record that moves to a free name keeps its TTL',
      records: ['1: a 60 A 192.0.2.1'],
      edit: { update: [[1, { name: 'b' }]] },
      expect: ['~ 1: b 60 A 192.0.2.1'],
    },
    {
      name: 'a set made anew keeps its TTL',
      records: ['1: a 60 A 192.0.2.1'],
      edit: { delete: [1], create: ['a A 192.0.2.2'] },
      expect: ['- 1: a 60 A 192.0.2.1', '+ a 60 A 192.0.2.2'],
    },
    {
      name: 'a TTL below 60 or above 86400 is wrong',
      records: [],
      edit: {
        create: ['a 59 A 192.0.2.1', 'b 86401 A 192.0.2.1', 'c 60 A 192.0.2.1', 'd 86400 A 192.0.2.1'],
      },
      expect: ['invalid create[0] ttl', 'invalid create[1] ttl'],
    },
  ]);
});

describe('conflicts', () => {
  table([
    {
      name: 'a CNAME stands alone',
      records: ['1: www TXT x'],
      edit: { create: ['www CNAME web.example.net'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'nothing stands beside a CNAME',
      records: ['1: www CNAME web.example.net'],
      edit: { create: ['www MX 0 mx.example.net'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'a proxied CNAME stands beside MX and TXT',
      records: ['1: www TXT x'],
      edit: { create: ['www CNAME web.example.net ; proxied', 'www MX 0 mx.example.net'] },
      expect: ['+ www 300 CNAME web.example.net ; proxied', '+ www 300 MX 0 mx.example.net'],
    },
    {
      name: 'a CNAME that is proxied no more conflicts',
      records: ['1: www TXT x', '2: www CNAME web.example.net ; proxied'],
      edit: { update: [[2, { proxied: false }]] },
      expect: ['conflict update[0]'],
    },
    {
      name: 'one CNAME at a name, even proxied',
      records: ['1: www CNAME a.example.net ; proxied'],
      edit: { create: ['www CNAME b.example.net ; proxied'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'one of CNAME and ANAME at a name',
      records: ['1: www CNAME a.example.net ; proxied'],
      edit: { create: ['www ANAME b.example.net ; proxied'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'an ANAME excludes addresses',
      records: ['1: @ ANAME a.example.net'],
      edit: { create: ['@ A 192.0.2.1', '@ AAAA 2001:db8::5'] },
      expect: ['conflict create[0]', 'conflict create[1]'],
    },
    {
      name: 'an ANAME stands beside MX and TXT at the apex',
      records: ['1: @ MX 0 mx.example.net'],
      edit: { create: ['@ ANAME a.example.net', '@ TXT x'] },
      expect: ['+ @ 300 ANAME a.example.net', '+ @ 300 TXT x'],
    },
    {
      name: 'proxied address-like records stand side by side',
      records: ['1: www A 192.0.2.1 ; proxied'],
      edit: { create: ['www AAAA 2001:db8::5 ; proxied', 'www ANAME a.example.net ; proxied'] },
      expect: ['+ www 300 AAAA 2001:db8::5 ; proxied', '+ www 300 ANAME a.example.net ; proxied'],
    },
    {
      name: 'at one name all are proxied or none',
      records: ['1: www A 192.0.2.1 ; proxied'],
      edit: { create: ['www A 192.0.2.2'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'all are proxied in one call',
      records: ['1: www A 192.0.2.1', '2: www AAAA 2001:db8::5'],
      edit: {
        update: [
          [1, { proxied: true }],
          [2, { proxied: true }],
        ],
      },
      expect: ['~ 1: www 300 A 192.0.2.1 ; proxied', '~ 2: www 300 AAAA 2001:db8::5 ; proxied'],
    },
    {
      name: 'the same record twice',
      records: ['1: www A 192.0.2.1'],
      edit: { create: ['WWW A 192.0.2.1'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'the same target in another case',
      records: ['1: @ MX 5 mx.example.net'],
      edit: { create: ['@ MX 5 MX.Example.NET'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'another priority is another record',
      records: ['1: @ MX 5 mx.example.net'],
      edit: { create: ['@ MX 6 mx.example.net'] },
      expect: ['+ @ 300 MX 6 mx.example.net'],
    },
    {
      name: 'the same record twice in one call',
      records: [],
      edit: { create: ['www A 192.0.2.1', 'www A 192.0.2.1'] },
      expect: ['conflict create[1]'],
    },
    {
      name: 'an update to what another record has',
      records: ['1: www A 192.0.2.1', '2: www A 192.0.2.2'],
      edit: { update: [[1, { destination: '192.0.2.2' }]] },
      expect: ['conflict update[0]'],
    },
    {
      name: 'equal TXT that were imported do not disturb an edit of one of them',
      records: ['1: @ TXT x', '2: @ TXT x'],
      edit: { update: [[2, { comment: 'second' }]] },
      expect: ['~ 2: @ 300 TXT x ; comment=second'],
    },
    {
      name: 'old conflicts that nothing touches are no obstacle',
      records: ['1: www CNAME a.example.net', '2: www TXT x'],
      edit: { create: ['other A 192.0.2.1'] },
      expect: ['+ other 300 A 192.0.2.1'],
    },
  ]);

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
  table([
    {
      name: 'has no NS of the customer',
      records: [],
      edit: { create: ['@ NS ns.example.net'] },
      expect: ['invalid create[0] type'],
    },
    {
      name: 'has no DS',
      records: [],
      edit: { create: ['@ DS 1 13 2 0000000000000000000000000000000000000000000000000000000000000000'] },
      expect: ['invalid create[0] type'],
    },
    {
      name: 'has no unproxied CNAME',
      records: [],
      edit: { create: ['@ CNAME web.example.net'] },
      expect: ['invalid create[0] type'],
    },
    {
      name: 'may have a proxied CNAME',
      records: ['1: @ MX 0 mx.example.net'],
      edit: { create: ['@ CNAME web.example.net ; proxied'] },
      expect: ['+ @ 300 CNAME web.example.net ; proxied'],
    },
    {
      name: 'keeps its CNAME proxied',
      records: ['1: @ CNAME web.example.net ; proxied'],
      edit: { update: [[1, { proxied: false }]] },
      expect: ['invalid update[0] type'],
    },
    {
      name: 'keeps the nameservers of the service',
      records: [],
      edit: { replace: [['@', 'NS']] },
      expect: ['managed replace[0]'],
    },
    {
      name: 'takes no replacement of the nameservers',
      records: [],
      edit: { replace: [['@', 'NS', 'NS ns.example.net', 'NS ns.example.org']] },
      expect: ['invalid replace[0] type'],
    },
  ]);
});

describe('delegations', () => {
  const digest = '0'.repeat(64);
  table([
    {
      name: 'with glue below',
      records: [],
      edit: {
        create: [
          'sub NS ns1.sub.example.com',
          'sub NS ns.example.net',
          'ns1.sub A 192.0.2.1',
          'ns1.sub AAAA 2001:db8::5',
        ],
      },
      expect: [
        '+ sub 300 NS ns1.sub.example.com',
        '+ sub 300 NS ns.example.net',
        '+ ns1.sub 300 A 192.0.2.1',
        '+ ns1.sub 300 AAAA 2001:db8::5',
      ],
    },
    {
      name: 'the name itself may be its nameserver',
      records: ['1: sub NS sub.example.com'],
      edit: { create: ['sub A 192.0.2.1'] },
      expect: ['+ sub 300 A 192.0.2.1'],
    },
    {
      name: 'nothing but glue below',
      records: ['1: sub NS ns1.sub.example.com'],
      edit: { create: ['www.sub A 192.0.2.1', 'ns1.sub TXT x', 'ns1.sub A 192.0.2.1'] },
      expect: ['conflict create[0]', 'conflict create[1]'],
    },
    {
      name: 'nothing but NS, DS and glue at the name',
      records: ['1: sub NS ns.example.net'],
      edit: { create: ['sub TXT x', 'sub A 192.0.2.1'] },
      expect: ['conflict create[0]', 'conflict create[1]'],
    },
    {
      name: 'glue is not proxied',
      records: ['1: sub NS ns1.sub.example.com'],
      edit: { create: ['ns1.sub A 192.0.2.1 ; proxied'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'no wildcard below',
      records: ['1: sub NS ns.example.net'],
      edit: { create: ['*.sub A 192.0.2.1'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'no delegation below a delegation',
      records: ['1: sub NS ns.example.net'],
      edit: { create: ['a.b.sub NS ns.example.org'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'not above what is there',
      records: ['1: www.sub A 192.0.2.1'],
      edit: { create: ['sub NS ns.example.net'] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'above addresses that become glue',
      records: ['1: ns1.sub A 192.0.2.1'],
      edit: { create: ['sub NS ns1.sub.example.com'] },
      expect: ['+ sub 300 NS ns1.sub.example.com'],
    },
    {
      name: 'above records that go in the same call',
      records: ['1: www.sub A 192.0.2.1'],
      edit: { delete: [1], create: ['sub NS ns.example.net'] },
      expect: ['- 1: www.sub 300 A 192.0.2.1', '+ sub 300 NS ns.example.net'],
    },
    {
      name: 'glue does not outlive its nameserver',
      records: ['1: sub NS ns1.sub.example.com', '2: sub NS ns.example.net', '3: ns1.sub A 192.0.2.1'],
      edit: { delete: [1] },
      expect: ['conflict delete[0]'],
    },
    {
      name: 'glue may go with its nameserver',
      records: ['1: sub NS ns1.sub.example.com', '2: sub NS ns.example.net', '3: ns1.sub A 192.0.2.1'],
      edit: { delete: [1, 3] },
      expect: ['- 1: sub 300 NS ns1.sub.example.com', '- 3: ns1.sub 300 A 192.0.2.1'],
    },
    {
      name: 'without NS the names below are ordinary again',
      records: ['1: sub NS ns1.sub.example.com', '2: ns1.sub A 192.0.2.1'],
      edit: { delete: [1], create: ['www.sub TXT x'] },
      expect: ['- 1: sub 300 NS ns1.sub.example.com', '+ www.sub 300 TXT x'],
    },
    {
      name: 'a DS needs NS',
      records: [],
      edit: { create: [`sub DS 1 13 2 ${digest}`] },
      expect: ['conflict create[0]'],
    },
    {
      name: 'a DS beside NS',
      records: ['1: sub NS ns.example.net'],
      edit: { create: [`sub DS 1 13 2 ${digest}`] },
      expect: [`+ sub 300 DS 1 13 2 ${digest}`],
    },
    {
      name: 'NS do not go before their DS',
      records: ['1: sub NS ns.example.net', `2: sub DS 1 13 2 ${digest}`],
      edit: { delete: [1] },
      expect: ['conflict delete[0]'],
    },
    {
      name: 'a wildcard is not delegated',
      records: [],
      edit: { create: ['*.sub NS ns.example.net'] },
      expect: ['invalid create[0] name'],
    },
  ]);
});

describe('proxied', () => {
  table([
    {
      name: 'is for address-like types only',
      records: [],
      edit: { create: ['www TXT x ; proxied'] },
      expect: ['invalid create[0] proxied'],
    },
    {
      name: 'needs edge addresses',
      records: [],
      edit: { create: ['www A 192.0.2.1 ; proxied'] },
      state: { edges: NO_EDGES },
      expect: ['invalid create[0] proxied'],
    },
    {
      name: 'of an old record does not hinder other edits when the edges are gone',
      records: ['1: www A 192.0.2.1 ; proxied'],
      edit: { update: [[1, { comment: 'x' }]] },
      state: { edges: NO_EDGES },
      expect: ['~ 1: www 300 A 192.0.2.1 ; proxied comment=x'],
    },
    {
      name: 'cannot stay when the type changes',
      records: ['1: www A 192.0.2.1 ; proxied'],
      edit: { update: [[1, { type: 'TXT' }]] },
      expect: ['invalid update[0] proxied'],
    },
    {
      name: 'works at a wildcard',
      records: [],
      edit: { create: ['* A 192.0.2.1 ; proxied'] },
      expect: ['+ * 300 A 192.0.2.1 ; proxied'],
    },
  ]);
});

describe('the plan', () => {
  const two = ['1: a A 192.0.2.1', '2: b A 192.0.2.1'];
  table([
    {
      name: 'limits the count after the call',
      records: two,
      edit: { create: ['c A 192.0.2.1'] },
      state: { maxRecords: 2 },
      expect: ['plan_limit create[0]'],
    },
    {
      name: 'allows to exchange records at the limit',
      records: two,
      edit: { delete: [1], create: ['c A 192.0.2.1'] },
      state: { maxRecords: 2 },
      expect: ['- 1: a 300 A 192.0.2.1', '+ c 300 A 192.0.2.1'],
    },
    {
      name: 'allows changes beyond the limit',
      records: two,
      edit: { update: [[1, { ttl: 60 }]] },
      state: { maxRecords: 1 },
      expect: ['~ 1: a 60 A 192.0.2.1'],
    },
    {
      name: 'that is missing forbids to add',
      records: two,
      edit: { create: ['c A 192.0.2.1'] },
      state: { hasPlan: false },
      expect: ['no_active_plan create[0]'],
    },
    {
      name: 'that is missing forbids no change',
      records: two,
      edit: { delete: [1], update: [[2, { ttl: 60 }]] },
      state: { hasPlan: false },
      expect: ['- 1: a 300 A 192.0.2.1', '~ 2: b 60 A 192.0.2.1'],
    },
    {
      name: 'counts replacements too',
      records: two,
      edit: { replace: [['a', 'A', 'A 192.0.2.1', 'A 192.0.2.2']] },
      state: { maxRecords: 2 },
      expect: ['plan_limit replace[0]'],
    },
    {
      name: 'comes after bad values',
      records: two,
      edit: { create: ['c 5 A 192.0.2.1'] },
      state: { maxRecords: 2 },
      expect: ['invalid create[0] ttl'],
    },
    {
      name: 'comes before conflicts',
      records: two,
      edit: { create: ['a A 192.0.2.1'] },
      state: { maxRecords: 2 },
      expect: ['plan_limit create[0]'],
    },
  ]);
});

describe('the result counts, not the order', () => {
  table([
    {
      name: 'a CNAME gives way to an address',
      records: ['1: www CNAME web.example.net'],
      edit: { delete: [1], create: ['www A 192.0.2.1'] },
      expect: ['- 1: www 300 CNAME web.example.net', '+ www 300 A 192.0.2.1'],
    },
    {
      name: 'two records swap their addresses',
      records: ['1: www A 192.0.2.1', '2: www A 192.0.2.2'],
      edit: {
        update: [
          [1, { destination: '192.0.2.2' }],
          [2, { destination: '192.0.2.1' }],
        ],
      },
      expect: ['~ 1: www 300 A 192.0.2.2', '~ 2: www 300 A 192.0.2.1'],
    },
    {
      name: 'two records swap their names',
      records: ['1: a CNAME x.example.net', '2: b CNAME y.example.net'],
      edit: {
        update: [
          [1, { name: 'b' }],
          [2, { name: 'a' }],
        ],
      },
      expect: ['~ 1: b 300 CNAME x.example.net', '~ 2: a 300 CNAME y.example.net'],
    },
    {
      name: 'a CNAME points to itself',
      records: [],
      edit: { create: ['www CNAME WWW.example.com'] },
      expect: ['invalid create[0] destination'],
    },
    {
      name: 'an update that makes a CNAME point to itself',
      records: ['1: www CNAME w3.example.com'],
      edit: { update: [[1, { name: 'w3' }]] },
      expect: ['invalid update[0] destination'],
    },
  ]);
});

describe('replacing a record set', () => {
  table([
    {
      name: 'keeps rows of equal rdata, reuses the others and adds the rest',
      records: ['1: www A 192.0.2.1 ; comment=one', '2: www A 192.0.2.2 ; comment=two'],
      edit: { replace: [['www', 'A', 'A 192.0.2.3', 'A 192.0.2.2', 'A 192.0.2.4']] },
      expect: ['~ 1: www 300 A 192.0.2.3 ; comment=one', '+ www 300 A 192.0.2.4'],
    },
    {
      name: 'removes what is left over',
      records: ['1: www A 192.0.2.1', '2: www A 192.0.2.2', '3: www TXT x'],
      edit: { replace: [['www', 'A', 'A 192.0.2.2']] },
      expect: ['- 1: www 300 A 192.0.2.1'],
    },
    {
      name: 'with nothing deletes it',
      records: ['1: www A 192.0.2.1', '2: www TXT x'],
      edit: { replace: [['www', 'A']] },
      expect: ['- 1: www 300 A 192.0.2.1'],
    },
    {
      name: 'makes it where there is none',
      records: [],
      edit: { replace: [['_acme-challenge', 'TXT', '60 TXT token']] },
      expect: ['+ _acme-challenge 60 TXT token'],
    },
    {
      name: 'keeps it proxied',
      records: ['1: www A 192.0.2.1 ; proxied'],
      edit: { replace: [['www', 'A', 'A 192.0.2.2', 'A 192.0.2.3']] },
      expect: ['~ 1: www 300 A 192.0.2.2 ; proxied', '+ www 300 A 192.0.2.3 ; proxied'],
    },
    {
      name: 'sets its TTL',
      records: ['1: www A 192.0.2.1'],
      edit: { replace: [['www', 'A', '900 A 192.0.2.1']] },
      expect: ['~ 1: www 900 A 192.0.2.1'],
    },
    {
      name: 'names the record at fault',
      records: [],
      edit: { replace: [['www', 'A', 'A 192.0.2.1 ; proxied']] },
      state: { edges: NO_EDGES },
      expect: ['invalid replace[0] records[0].proxied'],
    },
    {
      name: 'says once what is wrong with all of it',
      records: [],
      edit: { replace: [['www', 'A', '5 A 192.0.2.1', 'A 192.0.2.2']] },
      expect: ['invalid replace[0] ttl'],
    },
    {
      name: 'twice in one call is refused',
      records: [],
      edit: {
        replace: [
          ['www', 'A'],
          ['WWW', 'A'],
        ],
      },
      expect: ['invalid replace[1]'],
    },
    {
      name: 'with the same record twice conflicts',
      records: [],
      edit: { replace: [['www', 'A', 'A 192.0.2.1', 'A 192.0.2.1']] },
      expect: ['conflict replace[0]'],
    },
    {
      name: 'goes before updates and creates',
      records: ['1: www A 192.0.2.1'],
      edit: {
        replace: [['www', 'A', 'A 192.0.2.2']],
        update: [[1, { ttl: 60 }]],
        create: ['www A 192.0.2.3'],
      },
      expect: ['~ 1: www 60 A 192.0.2.2', '+ www 60 A 192.0.2.3'],
    },
  ]);
});

it('reports the names whose published records may differ', () => {
  const state = editState(['1: a A 192.0.2.1', '2: b 900 A 192.0.2.2']);
  const plan = planEdit(state, edit({ update: [[1, { name: 'c' }]], create: ['d TXT x'] }));
  expect(plan.kind === 'change' && plan.touched.map((name) => name.slice(1, 2))).toEqual(['a', 'c', 'd']);
  expect(plan.kind === 'change' && plan.recordCount).toBe(3);
});

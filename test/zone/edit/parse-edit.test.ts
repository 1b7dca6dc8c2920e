import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { type EditText, parseEdit } from '../../../src/zone/edit/parse-edit.ts';
import { APEX, showProblem } from '../../support/zone/customer-records.ts';

const problemsOf = (text: EditText) => {
  const parsed = parseEdit(text, APEX);
  return parsed.kind === 'problems' ? parsed.problems.map(showProblem) : [];
};

it('every list is read, with the fields that are there', () => {
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

describe('faults', () => {
  it('are reported at their items, all of them', () => {
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

  it('of an update’s destination are found once the record’s type is known', () => {
    expect(problemsOf({ update: [{ id: 1, destination: 'not an address' }] })).toEqual([]);
  });
});

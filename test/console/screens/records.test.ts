import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { batchOf, isEmptyBatch, problemsOf } from '../../../console/src/screens/records/batch.ts';
import { keepMine, rebase, takeTheirs } from '../../../console/src/screens/records/conflicts.ts';
import {
  compareNames,
  differencesOf,
  differencesOfChange,
  reversed,
  tally,
} from '../../../console/src/screens/records/diff.ts';
import {
  addRow,
  countsOf,
  deleteRows,
  editRow,
  isEmpty,
  NO_DRAFT,
  undoRow,
  unfinished,
} from '../../../console/src/screens/records/draft.ts';
import { importDifferences } from '../../../console/src/screens/records/import-diff.ts';
import { touchesRecords } from '../../../console/src/screens/records/live-change.ts';
import { readableName } from '../../../console/src/screens/records/punycode.ts';
import { NO_FILTER, rowsOf, sortRecords, typedOfRow } from '../../../console/src/screens/records/rows.ts';
import {
  joinDestination,
  partAtFault,
  splitDestination,
} from '../../../console/src/screens/records/type-fields.ts';
import {
  fieldsThatDiffer,
  fieldValue,
  TYPES,
  typedOf,
  typesToFilter,
  typesWith,
} from '../../../console/src/screens/records/typed.ts';
import {
  back,
  forth,
  NO_STEPS,
  step,
  type UndoStack,
} from '../../../console/src/screens/records/undo-stack.ts';
import {
  drawSome,
  FIRST_SHARE,
  heightOf,
  indexAt,
  nextShare,
  offsetOf,
  rowsInSight,
} from '../../../console/src/screens/records/window-rows.ts';
import { API_TYPES } from '../../../src/zone/records/customer-types.ts';
import { recordsById, someRecord } from '../../support/console/records.ts';

describe('saving a draft', () => {
  const one = someRecord({ id: 1 });
  const two = someRecord({ id: 2, name: 'mail', type: 'MX', destination: 'mx.example.net', mx_priority: 10 });

  describe('the batch of a draft', () => {
    it.each([
      ['only the fields that differ', two, { mx_priority: '20' }, { mx_priority: 20 }],
      [
        'the destination with another type',
        one,
        { type: 'ANAME' },
        { type: 'ANAME', destination: '192.0.2.1' },
      ],
      ['text that is not a number unchanged, for the API', one, { ttl: '5 min' }, { ttl: '5 min' }],
    ])('has %s', (_, record, typed, said) => {
      const { body } = batchOf(editRow(NO_DRAFT, String(record.id), record, typed));
      expect(body).toEqual({ delete: [], update: [{ id: record.id, ...said }], create: [] });
    });

    it('creates rows in the order in which they were added, and uses the apex for an empty name', () => {
      const typed = { destination: '192.0.2.9' };
      const draft = addRow(addRow(NO_DRAFT, { ...typed, name: '' }), { ...typed, name: 'b', ttl: '60' });
      expect(batchOf(draft).body.create).toEqual([
        { name: '@', type: 'A', destination: '192.0.2.9' },
        { name: 'b', type: 'A', destination: '192.0.2.9', ttl: 60 },
      ]);
      expect(batchOf(draft).rows.create).toEqual(['n1', 'n2']);
    });

    it('has origin settings only for proxied records', () => {
      const proxied = addRow(NO_DRAFT, { name: 'w', destination: '192.0.2.9', proxied: true, port: '8443' });
      expect(batchOf(proxied).body.create[0]).toMatchObject({ proxied: true, port: 8443, timeout: 15 });
      const direct = addRow(NO_DRAFT, { name: 'w', destination: '192.0.2.9', port: '8443' });
      expect(batchOf(direct).body.create[0]).not.toHaveProperty('port');
    });

    it('omits rows without a value', () => expect(isEmptyBatch(batchOf(addRow(NO_DRAFT)))).toBe(true));
  });

  it('errors of items are assigned to rows, fields and parts', () => {
    const added = addRow(NO_DRAFT, { name: 's', type: 'SRV', destination: '1 2 x host.example.net' });
    const draft = deleteRows(editRow(added, '2', two, { ttl: '1' }), ['1'], recordsById([one, two]));
    const items = [
      { list: 'create', index: 0, field: 'destination', error: 'port: a number is needed' },
      { list: 'update', index: 0, field: 'ttl', error: 'too small' },
      { list: 'delete', index: 0, error: 'is needed' },
      { list: 'create', index: 9, error: 'is nobody’s' },
    ];
    const found = problemsOf(items, batchOf(draft), (key) => typedOfRow(draft, key));
    expect([...found]).toEqual([
      ['n1', [{ field: 'destination', part: 'port', message: 'a number is needed' }]],
      ['2', [{ field: 'ttl', message: 'too small' }]],
      ['1', [{ message: 'is needed' }]],
    ]);
  });
});

const base = someRecord({ id: 1, destination: '192.0.2.1', ttl: 300 });
const mine = editRow(NO_DRAFT, '1', base, { destination: '192.0.2.2' });
const now = (set: Parameters<typeof someRecord>[0]) => recordsById([{ ...base, ...set }]);

describe('a draft on changed records', () => {
  it('stays the same if nothing changed', () => {
    const { draft, conflicts } = rebase(mine, now({}));
    expect(draft).toBe(mine);
    expect(conflicts).toEqual([]);
  });

  it('is rebased on a change of another field', () => {
    const { draft, conflicts } = rebase(mine, now({ ttl: 60 }));
    expect(conflicts).toEqual([]);
    expect(draft.edits['1']?.now).toMatchObject({ destination: '192.0.2.2', ttl: '60' });
    expect(draft.edits['1']?.base.ttl).toBe('60');
  });

  it('has nothing left if someone else made the same change', () => {
    expect(isEmpty(rebase(mine, now({ destination: '192.0.2.2' })).draft)).toBe(true);
  });

  it('reports a change of the same field, and keeps the input', () => {
    const { draft, conflicts } = rebase(mine, now({ destination: '192.0.2.3', ttl: 60 }));
    expect(draft).toBe(mine);
    expect(conflicts).toMatchObject([{ key: '1', kind: 'changed', fields: ['destination'] }]);
    const kept = rebase(keepMine(draft, conflicts[0]!), now({ destination: '192.0.2.3', ttl: 60 }));
    expect(kept.conflicts).toEqual([]);
    expect(kept.draft.edits['1']?.now).toMatchObject({ destination: '192.0.2.2', ttl: '60' });
    expect(isEmpty(takeTheirs(draft, conflicts[0]!))).toBe(true);
  });

  it('keeps edits of other fields if the other value is used', () => {
    const both = editRow(mine, '1', base, { comment: 'mine' });
    const { draft, conflicts } = rebase(both, now({ destination: '192.0.2.3' }));
    expect(takeTheirs(draft, conflicts[0]!).edits['1']?.now).toMatchObject({
      destination: '192.0.2.3',
      comment: 'mine',
    });
  });

  it('reports that a record was deleted, and can add it again', () => {
    const { draft, conflicts } = rebase(mine, recordsById([]));
    expect(conflicts).toMatchObject([{ key: '1', kind: 'deleted' }]);
    const again = keepMine(draft, conflicts[0]!);
    expect(again.edits).toEqual({});
    expect(again.creates).toMatchObject([{ typed: { destination: '192.0.2.2' } }]);
    expect(isEmpty(takeTheirs(draft, conflicts[0]!))).toBe(true);
  });

  it('asks before deleting a record that someone else has just changed', () => {
    const gone = deleteRows(NO_DRAFT, ['1'], recordsById([base]));
    expect(isEmpty(rebase(gone, recordsById([])).draft)).toBe(true);
    const { draft, conflicts } = rebase(gone, now({ ttl: 60 }));
    expect(conflicts).toMatchObject([{ kind: 'changed', mine: null, fields: ['ttl'] }]);
    expect(rebase(keepMine(draft, conflicts[0]!), now({ ttl: 60 }))).toMatchObject({ conflicts: [] });
  });
});

describe('differences', () => {
  const one = someRecord({ id: 1, name: 'www' });
  const two = someRecord({ id: 2, name: '@' });

  it('of a draft are the ones that will be saved, sorted by name', () => {
    const typed = addRow(addRow(NO_DRAFT, { name: 'new', destination: '192.0.2.9' }), { name: 'idle' });
    const draft = deleteRows(editRow(typed, '1', one, { ttl: '60' }), ['2'], recordsById([one, two]));
    const found = differencesOf(draft);
    expect(found.map(({ op, key }) => [op, key])).toEqual([
      ['delete', '2'],
      ['create', 'n1'],
      ['update', '1'],
    ]);
    expect(found[2]?.fields).toEqual(['ttl']);
    expect(tally(found)).toEqual({ create: 1, update: 1, delete: 1 });
  });

  it('of a change are the inverse of those of its revert', () => {
    const made = differencesOfChange([
      { after: one },
      { before: two, after: { ...two, destination: '192.0.2.5' } },
    ]);
    const back = reversed(made);
    expect(back.map(({ op }) => op)).toEqual(['update', 'delete']);
    expect(back[0]?.after?.destination).toBe('192.0.2.1');
    expect(reversed(back)).toEqual(made);
  });

  it('are sorted by name, label by label from the right, with the apex first', () => {
    const names = ['www', 'a.www', '@', 'b', 'a.b', 'zz.a.b', '*.b'];
    expect([...names].sort(compareNames)).toEqual(['@', 'b', '*.b', 'a.b', 'zz.a.b', 'www', 'a.www']);
  });
});

const www = someRecord({ id: 7, name: 'www', type: 'A', destination: '192.0.2.7', proxied: true });

describe('a draft', () => {
  it('stores an edit with its original record, and drops it if it equals the original', () => {
    const edited = editRow(NO_DRAFT, '7', www, { destination: '192.0.2.8' });
    expect(edited.edits['7']?.base.destination).toBe('192.0.2.7');
    expect(edited.edits['7']?.now?.destination).toBe('192.0.2.8');
    expect(isEmpty(editRow(edited, '7', www, { destination: '192.0.2.7' }))).toBe(true);
  });

  it('drops fields that the new type does not have', () => {
    const edited = editRow(NO_DRAFT, '7', www, { type: 'TXT' });
    expect(edited.edits['7']?.now?.proxied).toBe(false);
    const mail = editRow(addRow(NO_DRAFT, { type: 'MX', mx_priority: '10' }), 'n1', undefined, {
      type: 'CNAME',
    });
    expect(mail.creates[0]?.typed.mx_priority).toBe('');
  });

  it('deletes records, removes new rows, and keeps managed records', () => {
    const managed = someRecord({ id: 8, type: 'NS', editable: false });
    const draft = deleteRows(addRow(NO_DRAFT), ['7', '8', 'n1'], recordsById([www, managed]));
    expect(countsOf(draft)).toEqual({ create: 0, update: 0, delete: 1 });
    expect(draft.edits['7']?.now).toBeNull();
    expect(isEmpty(undoRow(draft, '7'))).toBe(true);
  });

  it('never reuses a key', () => {
    const once = addRow(NO_DRAFT);
    const twice = addRow(undoRow(once, 'n1'));
    expect(twice.creates.map(({ key }) => key)).toEqual(['n2']);
  });

  it('knows which new rows have no value', () => {
    const draft = editRow(addRow(addRow(NO_DRAFT)), 'n1', undefined, { destination: '192.0.2.1' });
    expect(unfinished(draft).map(({ key }) => key)).toEqual(['n2']);
  });
});

const DOMAIN = 'shop.example';
const a = someRecord({ id: 1, name: 'www', destination: '192.0.2.1', proxied: true });
const b = someRecord({ id: 2, name: 'www', destination: '192.0.2.2' });
const text = someRecord({ id: 3, name: '@', type: 'TXT', destination: 'one' });
const apex = someRecord({ id: 4, name: '@', type: 'NS', destination: 'ns1.fleet.example', editable: false });
const there = [a, b, text, apex];
const item = (name: string, type: string, destination: string) => ({ name, type, destination });

describe('an import', () => {
  it.each<[string, ReturnType<typeof item>[], unknown[][]]>([
    [
      'leaves an equal set unchanged, in any order',
      [item('www', 'A', '192.0.2.2'), item('WWW.shop.example.', 'A', '192.0.2.1')],
      [],
    ],
    [
      'deletes records that are no longer in a set',
      [item('www', 'A', '192.0.2.2')],
      [['delete', '192.0.2.1', undefined]],
    ],
    [
      'updates changed values, and keeps equal ones',
      [item('www', 'A', '192.0.2.2'), item('www', 'A', '192.0.2.9')],
      [['update', '192.0.2.1', '192.0.2.9']],
    ],
    [
      'only adds TXT records, and changes no other set',
      [item('@', 'TXT', 'two')],
      [['create', undefined, 'two']],
    ],
    ['adds no text that is there', [item('shop.example.', 'TXT', 'one')], []],
    [
      'leaves managed records unchanged',
      [item('@', 'NS', 'ns9.b.test')],
      [['create', undefined, 'ns9.b.test']],
    ],
  ])('%s', (_, items, expected) => {
    const found = importDifferences(there, items, DOMAIN);
    expect(found.map(({ op, before, after }) => [op, before?.destination, after?.destination])).toEqual(
      expected,
    );
  });

  it('keeps the proxy settings of a record', () => {
    const [found] = importDifferences(there, [item('www', 'A', '192.0.2.9')], DOMAIN);
    expect([found?.after?.proxied, found?.fields]).toEqual([true, ['destination']]);
  });
});

describe('a change event', () => {
  const records = { created: 0, updated: 1, deleted: 0 };

  it('causes a reload if it affects records and is not the own change', () => {
    expect(touchesRecords({ id: 8, records }, undefined)).toBe(true);
    expect(touchesRecords({ id: 8, records }, 7)).toBe(true);
    expect(touchesRecords({ id: 8, records }, 8)).toBe(false);
    expect(touchesRecords({ id: 7, records }, 8)).toBe(false);
    expect(touchesRecords({ id: 8, records: { created: 0, updated: 0, deleted: 0 } }, undefined)).toBe(false);
  });

  it('causes a reload if its content is unknown', () => {
    expect(touchesRecords(undefined, 8)).toBe(true);
    expect(touchesRecords({ id: 9 }, 8)).toBe(true);
  });
});

describe('a name', () => {
  it.each(
    'müller bücher 例え пример ελληνικά مثال straße-ähnlich ü'.split(' '),
  )('is decoded: %s', (label) => {
    const ascii = domainToASCII(label);
    expect(ascii).not.toBe('');
    expect(readableName(`www.${ascii}`)).toBe(`www.${label}`);
  });

  const odd = `xn-- xn--! xn--99999999999 xn--${'z'.repeat(35)} www * @ _xn--a xn--<b>`;
  it.each(odd.split(' '))('stays as it is: %s', (name) => expect(readableName(name)).toBe(name));
});

describe('rows', () => {
  const records = [
    someRecord({ id: 1, name: 'www', type: 'A', destination: '192.0.2.1' }),
    someRecord({ id: 2, name: '@', type: 'TXT', destination: 'v=spf1 -all' }),
    someRecord({ id: 3, name: 'a.www', type: 'A', comment: 'Old Machine' }),
    someRecord({ id: 4, name: '@', type: 'A', proxied: true }),
    someRecord({ id: 5, name: 'mail', type: 'MX' }),
    someRecord({ id: 6, name: 'www', type: 'AAAA' }),
  ];
  const sorted = sortRecords(records);
  const ids = (rows: readonly { key: string }[]) => rows.map(({ key }) => key);

  it('are grouped by name, the apex first, each name before those below it', () => {
    expect(sorted.map(({ id }) => id)).toEqual([4, 2, 5, 1, 6, 3]);
    const first = rowsOf(sorted, NO_DRAFT, NO_FILTER).filter(({ isFirst }) => isFirst);
    expect(ids(first)).toEqual(['4', '5', '1', '3']);
  });

  it('show the draft: new rows first, edited ones in their position', () => {
    const edited = editRow(addRow(NO_DRAFT), '1', records[0], { name: 'zzz' });
    const draft = deleteRows(edited, ['5'], recordsById(records));
    const rows = rowsOf(sorted, draft, NO_FILTER);
    expect(ids(rows)).toEqual(['n1', '4', '2', '5', '1', '6', '3']);
    expect(rows.map(({ state }) => state).join(' ')).toBe('new same same deleted edited same same');
    expect(ids(rowsOf(sorted, draft, { ...NO_FILTER, isChangedOnly: true }))).toEqual(['n1', '5', '1']);
  });

  it.each([
    [{ text: 'WWW' }, ['1', '6', '3']],
    [{ text: 'spf1' }, ['2']],
    [{ text: 'old mach' }, ['3']],
    [{ type: 'MX' }, ['5']],
    [{ proxied: 'yes' as const }, ['4']],
    [{ text: '<b>' }, []],
  ])('are filtered: %j', (filter, expected) => {
    expect(ids(rowsOf(sorted, NO_DRAFT, { ...NO_FILTER, ...filter }))).toEqual(expected);
  });

  it('return the same object for an unchanged record, so that it is not rendered again', () => {
    const [one] = rowsOf(sorted, NO_DRAFT, NO_FILTER);
    const [again] = rowsOf(sorted, addRow(NO_DRAFT), NO_FILTER).slice(1);
    expect(again?.typed).toBe(one?.typed);
  });
});

const VALID: readonly [string, string, readonly string[]][] = [
  ['SRV', '10 5 5060 sip.example.net', ['10', '5', '5060', 'sip.example.net']],
  [
    'CAA',
    '0 issue "letsencrypt.org; validationmethods=dns-01"',
    ['0', 'issue', 'letsencrypt.org; validationmethods=dns-01'],
  ],
  ['CAA', '0 issue ""', ['0', 'issue', '']],
  ['TLSA', '3 1 1 ab cd', ['3', '1', '1', 'ab cd']],
  ['HTTPS', '1 . alpn="h2,h3" port=8443', ['1', '.', 'alpn="h2,h3" port=8443']],
  ['HTTPS', '0 www.example.net.', ['0', 'www.example.net.', '']],
  [
    'NAPTR',
    '100 10 "U" "E2U+sip" "!^.*$!sip:\\\\1@example.net!" .',
    ['100', '10', 'U', 'E2U+sip', '!^.*$!sip:\\1@example.net!', '.'],
  ],
  ['URI', '10 1 "https://www.example.net/a\\"b"', ['10', '1', 'https://www.example.net/a"b']],
];

describe('the types', () => {
  it('match those of the API', () => expect([...TYPES].sort()).toEqual([...API_TYPES].sort()));

  it('include the type of a record without a mnemonic', () => {
    expect(typesWith('A')).toEqual(TYPES);
    expect(typesWith('TYPE65280')).toEqual([...TYPES, 'TYPE65280']);
    expect(typesToFilter(new Set(['TYPE65280', 'MX', 'A', 'TYPE10']), '')).toEqual([
      'A',
      'MX',
      'TYPE10',
      'TYPE65280',
    ]);
    expect(typesToFilter(new Set(['A']), 'TYPE10')).toEqual(['A', 'TYPE10']);
    expect(typesToFilter(new Set(['A']), 'DNAME')).toEqual(['A', 'DNAME']);
  });
});

describe('a destination', () => {
  it.each(VALID)('of %s is split and joined: %s', (type, destination, texts) => {
    expect(splitDestination(type, destination)).toEqual(texts);
    expect(joinDestination(type, texts)).toBe(destination);
  });

  it('keeps the position of empty parts', () => {
    const typed = ['', '', '5060', ''];
    const joined = joinDestination('SRV', typed);
    expect(splitDestination('SRV', joined)).toEqual(typed);
    expect(joinDestination('SRV', ['', '', '', ''])).toBe('');
    expect(splitDestination('SRV', '')).toEqual(['', '', '', '']);
  });

  it('accepts a quote and a backslash at any position while typing', () => {
    for (const text of ['a"', '"', '\\', 'a\\', '\\"', 'a b"c\\ d', '\\1']) {
      const typed = ['0', 'issue', text];
      expect(splitDestination('CAA', joinDestination('CAA', typed))).toEqual(typed);
    }
  });

  it('keeps octet escapes, and a backslash before three digits', () => {
    expect(splitDestination('CAA', '0 issue "\\195\\188"')).toEqual(['0', 'issue', '\\195\\188']);
    expect(joinDestination('CAA', ['0', 'issue', '\\195\\188'])).toBe('0 issue "\\195\\188"');
    const texts = splitDestination('CAA', '0 issue "\\\\123"') ?? [];
    expect(joinDestination('CAA', texts)).toBe('0 issue "\\092123"'); // the same octets
  });

  it('has one part if it has another form', () => {
    expect(splitDestination('SRV', '\\# 4 00010002')).toBeUndefined();
    expect(splitDestination('SRV', '1 2 3 host more')).toBeUndefined();
    expect(splitDestination('CAA', '0 issue "open')).toBeUndefined();
    expect(splitDestination('A', '192.0.2.1')).toBeUndefined();
  });

  it('drops spaces that would move a word into the next part', () => {
    expect(joinDestination('SRV', ['1 0', '5', ' 5060', 'host'])).toBe('10 5 5060 host');
  });
});

it('an error of the destination belongs to the part that it names', () => {
  expect(partAtFault('SRV', 'port: a number is needed')).toEqual({
    part: 'port',
    message: 'a number is needed',
  });
  expect(partAtFault('SRV', 'colour: is odd')).toEqual({ message: 'colour: is odd' });
  expect(partAtFault('A', 'no address')).toEqual({ message: 'no address' });
});

describe('a typed record', () => {
  it('has text for every number, and the defaults of the API for omitted fields', () => {
    const typed = typedOf({ name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 0, ttl: 60 });
    expect(typed).toMatchObject({ mx_priority: '0', ttl: '60', port: '443', timeout: '15', comment: '' });
  });

  it('is compared by field', () => {
    const typed = typedOf({ name: 'a', type: 'A', destination: '192.0.2.1' });
    expect(fieldsThatDiffer(typed, { ...typed, ttl: '60', proxied: true })).toEqual(['ttl', 'proxied']);
  });

  it('is converted for the API', () => {
    const typed = typedOf({ name: '', type: 'TXT', destination: ' two  spaces ' });
    expect(fieldValue(typed, 'name')).toBe('@');
    expect(fieldValue(typed, 'ttl')).toBeUndefined();
    expect(fieldValue(typed, 'destination')).toBe(' two  spaces ');
    expect(fieldValue({ ...typed, type: 'A', destination: ' 192.0.2.1 ' }, 'destination')).toBe('192.0.2.1');
    expect(fieldValue({ ...typed, ttl: ' 60 ' }, 'ttl')).toBe(60);
    expect(fieldValue({ ...typed, ttl: '1h' }, 'ttl')).toBe('1h');
    expect(fieldValue({ ...typed, mx_priority: '5' }, 'mx_priority')).toBeUndefined();
  });
});

const empty: UndoStack<string> = NO_STEPS;

describe('an undo stack', () => {
  it('goes back and forward', () => {
    const stack = step(step(empty, '', 'a'), 'x', 'b');
    const once = back(stack, 'xy');
    expect(once?.value).toBe('x');
    const twice = back(once!.stack, once!.value);
    expect(twice?.value).toBe('');
    expect(back(twice!.stack, twice!.value)).toBeUndefined();
    const again = forth(twice!.stack, twice!.value);
    expect(again?.value).toBe('x');
    expect(forth(again!.stack, again!.value)?.value).toBe('xy');
  });

  it('treats typing in one field as one step', () => {
    const stack = step(step(step(empty, '', 'n1 name'), 'w', 'n1 name'), 'ww', 'n1 name');
    expect(back(stack, 'www')?.value).toBe('');
    const apart = step(step(empty, '', undefined), 'w', undefined);
    expect(back(apart, 'ww')?.value).toBe('w');
  });

  it('starts a new step after an undo, and drops the redo steps', () => {
    const undone = back(step(empty, '', 'a'), 'x')!;
    const stack = step(undone.stack, '', 'a');
    expect(forth(stack, 'y')).toBeUndefined();
    expect(back(stack, 'y')?.value).toBe('');
  });

  it('is bounded', () => {
    let stack = empty;
    for (let i = 0; i < 1000; i++) stack = step(stack, String(i), undefined);
    expect(stack.past.length).toBe(200);
    expect(stack.past.at(-1)).toBe('999');
  });
});

const plain = { count: 10_000, rowHeight: 40, tall: [] };
const opened = {
  count: 100,
  rowHeight: 40,
  tall: [
    { index: 3, extra: 200 },
    { index: 50, extra: 100 },
  ],
};

describe('a list of rows', () => {
  it('knows the position of each row, even below taller ones', () => {
    expect(offsetOf(opened, 3)).toBe(120);
    expect(offsetOf(opened, 4)).toBe(360);
    expect(heightOf(opened)).toBe(100 * 40 + 300);
  });

  it('finds the row at every position', () => {
    for (let index = 0; index < opened.count; index++) {
      expect(indexAt(opened, offsetOf(opened, index))).toBe(index);
      expect(indexAt(opened, offsetOf(opened, index + 1) - 1)).toBe(index);
    }
    expect(indexAt(opened, -500)).toBe(0);
    expect(indexAt(opened, 1e9)).toBe(99);
  });

  it('renders the visible rows and a bounded number around them', () => {
    for (let top = 0; top < heightOf(plain); top += 3777) {
      const rows = rowsInSight(plain, top, 900, []);
      expect(rows.length).toBeLessThanOrEqual(50);
      expect(rows).toContain(indexAt(plain, top));
      expect(rows).toContain(indexAt(plain, Math.min(top + 900, heightOf(plain) - 1)));
    }
  });

  it('renders required rows in order', () => {
    const rows = rowsInSight(plain, 4000, 400, [9999, 0, 20_000, -1]);
    expect(rows[0]).toBe(0);
    expect(rows.at(-1)).toBe(9999);
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
  });

  it('renders new rows over several frames, and keeps rendered ones', () => {
    const wanted = rowsInSight(plain, 4000, 900, []);
    let there: readonly number[] = wanted.slice(-3);
    while (there.length < wanted.length) {
      const next = drawSome(wanted, (index) => there.includes(index), 5);
      expect(next.length - there.length).toBe(Math.min(5, wanted.length - there.length));
      expect(next).toEqual(expect.arrayContaining([...there]));
      there = next;
    }
    expect(there).toEqual(wanted);
  });

  it('renders fewer rows per frame after late frames, within its bounds', () => {
    let share = FIRST_SHARE;
    for (let i = 0; i < 20; i++) share = nextShare(share, 100);
    expect(share).toBe(2);
    for (let i = 0; i < 50; i++) share = nextShare(share, 17);
    expect(share).toBe(16);
  });

  it('renders nothing for an empty list', () => {
    expect(rowsInSight({ count: 0, rowHeight: 40, tall: [] }, 0, 900, [0])).toEqual([]);
  });
});

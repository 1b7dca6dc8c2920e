import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import {
  compareMembers,
  HAS_MOVED,
  judgeMember,
  needsConfirmation,
  type Occupant,
  type StoredMember,
  whyNeverMember,
} from '../../../src/zone/catalog/compare-members.ts';
import type { CatalogMember } from '../../../src/zone/catalog/read-catalog.ts';

const stored = (name: string, more: Partial<StoredMember> = {}): StoredMember => ({
  ...{ name, label: `l-${name}`, group: null, coo: null, isSkipped: false },
  ...more,
});
const listed = (name: string, more: Partial<CatalogMember> = {}): [string, CatalogMember] => [
  name,
  { name, label: `l-${name}`, groups: [], coo: undefined, ...more },
];

describe('a comparison', () => {
  it('distinguishes new, removed, relabelled and changed members', () => {
    const before = [
      stored('same'),
      stored('gone'),
      stored('reset'),
      stored('grouped'),
      stored('given'),
      stored('skipped', { isSkipped: true }),
      stored('skipped-gone', { isSkipped: true }),
      stored('skipped-changed', { isSkipped: true }),
    ];
    const now = new Map([
      listed('same'),
      listed('reset', { label: 'other', groups: ['unknown'] }),
      listed('grouped', { groups: ['a-unknown', 'gold'] }),
      listed('given', { coo: 'new.' }),
      listed('skipped'),
      listed('skipped-changed', { label: 'other' }),
      listed('new'),
    ]);
    const done = compareMembers(before, now, new Set(['gold']));
    expect(done).toEqual({
      joins: [
        { name: 'skipped-changed', label: 'other', group: null, coo: null },
        { name: 'new', label: 'l-new', group: null, coo: null },
      ],
      leaves: [before[1], before[6]],
      resets: [{ name: 'reset', label: 'other', group: 'unknown', coo: null }],
      updates: [
        { name: 'grouped', label: 'l-grouped', group: 'gold', coo: null },
        { name: 'given', label: 'l-given', group: null, coo: 'new.' },
      ],
      copied: 5,
      removals: 2,
    });
  });

  it('finds nothing to do after it was applied', () => {
    const now = new Map([listed('a', { groups: ['x', 'y'] }), listed('b', { coo: 'new.' })]);
    const first = compareMembers([], now, new Set(['y']));
    const after = first.joins.map((each) => ({ ...each, isSkipped: each.name === 'b' }));
    const { joins, leaves, resets, updates } = compareMembers(after, now, new Set(['y']));
    expect([joins, leaves, resets, updates]).toEqual([[], [], [], []]);
  });

  it.each([
    [99, 99, false],
    [100, 100, true],
    [200, 100, false],
    [199, 100, true],
    [1_000_000, 500_000, false],
    [1_000_000, 500_001, true],
    [0, 0, false],
  ])('of %i members that removes %i needs a confirmation: %s', (copied, removals, is) => {
    expect(needsConfirmation({ copied, removals })).toBe(is);
  });
});

describe('a member', () => {
  const NAME = 'shop.example.';
  const member = (name: string, more: object = {}): Occupant => ({
    ...{ kind: 'member', name, catalog: 'other.', coo: null, hasSamePeer: true },
    ...more,
  });

  it.each<[string, Occupant[], object | string]>([
    ['nothing', [], { kind: 'free' }],
    ['a customer', [{ kind: 'domain', name: NAME }], "is a customer's domain"],
    [
      "a customer's parent domain",
      [{ kind: 'domain', name: 'example.' }],
      "is below the customer's domain example.",
    ],
    ['an operator zone', [{ kind: 'zone', name: NAME }], 'is a zone of this fleet'],
    ['a zone above', [{ kind: 'zone', name: 'example.' }], 'is below the zone example. of this fleet'],
    [
      'a nameserver',
      [{ kind: 'nameserver', name: 'ns1.shop.example.' }],
      'is a name around the nameserver ns1.shop.example.',
    ],
    ['another catalog', [member(NAME)], 'is a member of other.'],
    ['another catalog above', [member('example.')], 'is below example., a member of other.'],
    ['the same catalog above', [member('example.', { catalog: 'mine.' })], { kind: 'free' }],
    [
      'the same catalog, then a customer',
      [member('b.example.', { catalog: 'mine.' }), { kind: 'domain', name: 'example.' }],
      "is below the customer's domain example.",
    ],
    ['a catalog that gives it away', [member(NAME, { coo: 'mine.' })], { kind: 'moves' }],
    ['a catalog that gives it to a third one', [member(NAME, { coo: 'x.' })], 'is a member of other.'],
    [
      'a catalog of another peer',
      [member(NAME, { coo: 'mine.', hasSamePeer: false })],
      'is a member of other.',
    ],
    [
      'a catalog that gives a name above away',
      [member('example.', { coo: 'mine.' })],
      'is below example., a member of other.',
    ],
  ])('is judged by what has its name or one above: %s', (_, occupants, expected) => {
    const claim = judgeMember({ name: NAME, coo: null }, 'mine.', occupants);
    expect(claim).toEqual(typeof expected === 'string' ? { kind: 'taken', why: expected } : expected);
  });

  it('that was given to another catalog needs no attention', () => {
    const claim = judgeMember({ name: NAME, coo: 'other.' }, 'mine.', [member(NAME)]);
    expect(claim).toEqual({ kind: 'taken', why: HAS_MOVED });
  });

  it.each([
    ['.', 'is the root'],
    ['com.', 'is a public suffix'],
    ['nosuchtld.', 'is a public suffix'],
    ['co.uk.', 'is a public suffix'],
    ['*.example.com.', 'is a wildcard'],
  ])('named %s is refused, because it %s', (name, why) => {
    expect(whyNeverMember(parseName(name))).toBe(why);
  });

  it.each([
    'example.com.',
    'github.io.',
    '2.0.192.in-addr.arpa.',
    '\\000.example.',
  ])('may be named %s', (name) => {
    expect(whyNeverMember(parseName(name))).toBeUndefined();
  });
});

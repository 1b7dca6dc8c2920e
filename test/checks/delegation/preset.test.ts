import { describe, expect, it } from 'vitest';
import type { Expected, NameserverSet, Preset } from '../../../src/checks/delegation/check-state.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { nextPreset, setsLeft } from '../../../src/checks/delegation/preset.ts';
import { printName } from '../../../src/dns/name.ts';
import { evidenceOf, expectedSets, nameserverSets } from '../../support/world/check-evidence.ts';

const ALL = expectedSets('ns1.a ns2.a | ns1.b ns2.b | ns1.c ns2.c');
const SETS: Record<string, NameserverSet> = {
  a: ALL.sets[0] as NameserverSet,
  b: ALL.sets[1] as NameserverSet,
  c: ALL.sets[2] as NameserverSet,
};

/** `standing ab`: with the sets a and b taken. */
function parsePreset(text: string): Preset {
  const [kind, taken = ''] = text.split(' ');
  if (kind !== 'standing') return { kind: kind as 'clear' };
  return { kind, taken: [...taken].map((letter) => SETS[letter] as NameserverSet) };
}

function printPreset(preset: Preset): string {
  if (preset.kind !== 'standing') return preset.kind;
  return `standing ${preset.taken.map((set) => printName(set[0] as never)[4]).join('')}`;
}

const TWICE = (said: string) => `${said}; ${said}`;

/** As the store gives it: without the sets that were taken. */
const without = (preset: Preset): Expected => ({ ...ALL, sets: setsLeft(preset, ALL) });

it.each([
  // before                what the parent says                          after
  ['clear', TWICE('referral ns1.a ns2.a'), 'clear'],
  ['undecided', TWICE('nxdomain'), 'clear'],
  ['undecided', TWICE('nodata'), 'clear'],
  ['undecided', TWICE('alias'), 'clear'],
  ['undecided', TWICE('referral ns1.x ns2.x'), 'clear'],
  ['undecided', TWICE('referral ns1.a ns2.a'), 'standing a'],
  ['undecided', TWICE('referral ns1.b'), 'standing b'],
  ['undecided', TWICE('referral ns1.b ns2.b ns1.x'), 'standing b'],
  ['undecided', TWICE('referral ns1.a ns1.c ns1.x'), 'standing ac'],
  ['undecided', TWICE('referral ns1.a ns1.b ns1.c'), 'standing abc'],
  // not what a single address says, or what addresses disagree about
  ['undecided', 'nxdomain; timeout', 'undecided'],
  ['undecided', 'referral ns1.a ns2.a; timeout', 'undecided'],
  ['undecided', 'nxdomain; referral ns1.a ns2.a', 'undecided'],
  ['undecided', 'timeout; timeout', 'undecided'],
  ['undecided', 'nxdomain', 'clear'],
  ['undecided', 'referral ns1.a ns2.a', 'standing a'],
  ['standing a', TWICE('referral ns1.a ns2.a'), 'standing a'],
  ['standing a', TWICE('referral ns1.a'), 'standing a'],
  ['standing a', TWICE('referral ns1.b'), 'standing a'],
  ['standing a', TWICE('referral ns1.b ns2.b ns1.x'), 'standing a'],
  ['standing a', TWICE('referral ns1.a ns2.a ns1.b ns2.b'), 'standing a'],
  ['standing a', TWICE('referral ns1.b ns2.b'), 'clear'],
  ['standing a', TWICE('referral ns1.x ns2.x'), 'clear'],
  ['standing a', TWICE('nxdomain'), 'clear'],
  ['standing a', TWICE('nodata'), 'clear'],
  ['standing abc', TWICE('referral ns1.a ns2.a'), 'standing abc'],
  ['standing abc', TWICE('nxdomain'), 'clear'],
  ['standing a', 'referral ns1.b ns2.b; timeout', 'standing a'],
  ['standing a', 'nxdomain; timeout', 'standing a'],
  ['standing a', 'nxdomain; referral ns1.a ns2.a', 'standing a'],
  ['standing a', 'timeout; timeout', 'standing a'],
  ['standing a', 'nxdomain', 'clear'],
])('%s, %s: %s', (before, said, after) => {
  const preset = parsePreset(before);
  const expected = without(preset);
  expect(printPreset(nextPreset(preset, judgeDelegation(evidenceOf(said), expected), expected))).toBe(after);
});

it('a taken set is never among those left, even if it is still listed as accepted', () => {
  const standing = parsePreset('standing a');
  const judgement = judgeDelegation(evidenceOf(TWICE('referral ns1.a ns2.a')), ALL);
  expect(judgement.verdict).toBe('match');
  expect(printPreset(nextPreset(standing, judgement, ALL))).toBe('standing a');
});

describe('with one accepted set', () => {
  it.each([
    'referral ns1.a ns2.a',
    'timeout',
    'nxdomain',
  ])('the rule cannot help, and there is nothing to wait for (%s)', (said) => {
    const one = expectedSets('ns1.a ns2.a');
    expect(nextPreset({ kind: 'undecided' }, judgeDelegation(evidenceOf(said), one), one)).toEqual({
      kind: 'clear',
    });
  });
});

it('sets that share a shown name are all taken, also those that the domain may not have', () => {
  const expected = expectedSets(
    'ns1.a ns2.a | ns1.b ns2.a | ns1.c ns2.c',
    'ns1.a ns2.a | ns1.b ns2.a | ns2.a ns1.z',
  );
  const judgement = judgeDelegation(evidenceOf(TWICE('referral ns2.a ns1.a')), expected);
  const preset = nextPreset({ kind: 'undecided' }, judgement, expected);
  expect(preset).toEqual({
    kind: 'standing',
    taken: nameserverSets('ns1.a ns2.a | ns1.b ns2.a | ns2.a ns1.z'),
  });
  expect(setsLeft(preset, expected)).toEqual(nameserverSets('ns1.c ns2.c'));
});

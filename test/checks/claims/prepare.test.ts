import { expect, it } from 'vitest';
import type { NamedDomain } from '../../../src/checks/claims/answered.ts';
import { claimsToPrepare } from '../../../src/checks/claims/prepare.ts';
import { madeDomain as domain } from '../../support/world/made-claims.ts';

type Enclosing = 'full' | 'apex' | 'none';
const prepared = (
  domains: readonly NamedDomain[],
  rights: readonly number[] = [],
  enclosing: Enclosing = 'none',
) => claimsToPrepare(domains, rights, () => enclosing);

// biome-ignore format: a table
const CASES: [string, readonly NamedDomain[], readonly number[], readonly number[]][] = [
  ['a claim that is alone is answered whole as it is',   [domain(1, 'waiting'), domain(2, 'off')],              [],  []],
  ['every claim beside another one',                     [domain(1, 'waiting'), domain(2, 'waiting')],          [],  [1, 2]],
  ['one that has the record keeps the offer',            [domain(1, 'waiting', { hasTxt: true }), domain(2, 'waiting')], [], [1, 2]],
  ['a claim beside one in external mode',                [domain(1, 'waiting'), domain(2, 'unverified')],       [],  [1]],
  ['a claim on a name that is proved elsewhere',         [domain(1, 'waiting'), domain(2, 'holdingElsewhere')], [],  [1]],
  ['a claim where names of ours were seen before',       [domain(1, 'waiting', { othersSighted: true })],       [],  [1]],
  ['a claim where another account’s set was seen',       [domain(1, 'waiting')],                                [7], [1]],
  ['nobody on a name that is held here',                 [domain(1, 'waiting'), domain(2, 'holding')],          [],  []],
];

it.each(CASES)('%s', (_, domains, rights, expected) => {
  expect(prepared(domains, rights)).toEqual(expected);
});

it('nobody inside a zone of another account, where the record changes nothing', () => {
  const two = [domain(1, 'waiting'), domain(2, 'waiting')];
  expect(prepared(two, [], 'full')).toEqual([]);
  expect(prepared(two, [], 'apex')).toEqual([]);
  expect(claimsToPrepare(two, [], (account) => (account === 1 ? 'none' : 'full'))).toEqual([1]);
});

import { describe, expect, it } from 'vitest';
import {
  choosePoolSets,
  chooseStaticSets,
  endingRights,
  isNewToName,
  type NamePast,
} from '../../../src/checks/claims/choose-sets.ts';
import { names } from '../../support/world/check-evidence.ts';

const [S1, S2] = [names('ns1.a ns2.a'), names('ns1.b ns2.b')];
const [OWN, SPARE] = [names('p1.x q1.y'), names('p2.x q2.y')];
const past = (more: Partial<NamePast> = {}): NamePast => ({
  rights: [],
  mayBeSeen: false,
  isContested: false,
  shown: new Set(),
  ...more,
});
const [ME, THEY] = [1, 2];
const right = (set: typeof S1, accountId: number, exclusive = false) => {
  return { names: set, accountId, exclusive };
};
const shared = (set: typeof S1) => ({ names: set, exclusive: false });
const own = { names: OWN, exclusive: true };
const poolSets = (given: { names: typeof S1; exclusive: boolean }, more: Partial<NamePast>) => {
  const choice = choosePoolSets(ME, given, past(more));
  return choice.kind === 'sets' ? choice.sets : choice.kind;
};

describe('static sets', () => {
  it('all prove a claim on a name with which no other account was ever involved', () => {
    expect(chooseStaticSets(ME, [S1, S2], past())).toBe('every');
  });

  it('that the parent showed before are spent, but not for the last holder or an operator', () => {
    const shown = new Set(S1.slice(1));
    expect(chooseStaticSets(ME, [S1, S2], past({ shown }))).toEqual([shared(S2)]);
    expect(chooseStaticSets(ME, [S1, S2], past({ shown, mayBeSeen: true }))).toBe('every');
  });

  it('are one per claim if several accounts wait, and none if all are assigned', () => {
    const contested = { isContested: true };
    for (const rights of [[right(S1, THEY)], [right(S2, ME)]])
      expect(chooseStaticSets(ME, [S1, S2], past({ ...contested, rights }))).toEqual([shared(S2)]);
    const all = [right(S1, THEY), right(S2, 3)];
    expect(chooseStaticSets(ME, [S1, S2], past({ ...contested, rights: all }))).toEqual([]);
  });

  it('are spent, if there is only one, only if another account is involved with the name', () => {
    const shown = new Set(S1);
    expect(chooseStaticSets(ME, [S1], past({ shown }))).toBe('every');
    expect(chooseStaticSets(ME, [S1], past({ shown, isContested: true }))).toEqual([]);
  });
});

describe('the set of an account', () => {
  it('proves its claims, even if the parent showed it before, as long as no other account ever gets it', () => {
    expect(poolSets(own, { shown: new Set(OWN), isContested: true })).toEqual([own]);
  });

  it('proves nothing if it is shared and the parent showed it, and its substitute must be new to the name', () => {
    const shown = new Set(OWN.slice(0, 1));
    const choice = choosePoolSets(ME, shared(OWN), past({ shown, rights: [right(SPARE, THEY, true)] }));
    if (choice.kind !== 'substitute') throw new Error(choice.kind);
    expect([OWN, SPARE, S1].map(choice.isUsable)).toEqual([false, false, true]);
  });

  it('stays the only one if the parent meanwhile showed a shared set of the same account', () => {
    const rights = [right(S1, ME), right(S2, ME)];
    expect(poolSets(own, { rights, shown: new Set(S1) })).toEqual([own, shared(S2)]);
  });

  it('is replaced if an operator assigned it to another account, preferably by an earlier exclusive right', () => {
    expect(poolSets(own, { rights: [right(OWN, THEY)] })).toBe('substitute');
    const rights = [right(OWN, THEY), right(SPARE, ME, true)];
    expect(poolSets(own, { rights })).toEqual([{ names: SPARE, exclusive: true }]);
  });
});

it('a set is new to a name if no other account has the right to it and the parent never showed it', () => {
  const { rights, shown } = past({ rights: [right(S1, THEY)], shown: new Set(S2) });
  expect([S1, S2, OWN].map((set) => isNewToName(set, ME, { rights, shown }))).toEqual([false, false, true]);
});

it('the rights that end with their claim are those to shared sets that the parent never showed', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(names) as [typeof S1, typeof S1, typeof S1, typeof S1];
  const rights = [right(a, ME), right(b, ME), right(c, ME, true), right(d, THEY)];
  expect(endingRights(rights, ME, [[...b, ...names('x')]])).toEqual([right(a, ME)]);
});

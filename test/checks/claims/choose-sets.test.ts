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
const right = (set: typeof S1, accountId: number, exclusive = false) => ({
  names: set,
  accountId,
  exclusive,
});
const shared = (set: typeof S1) => ({ names: set, exclusive: false });

describe('static sets', () => {
  it('all prove a claim on a name with which no other account ever had to do', () => {
    expect(chooseStaticSets(ME, [S1, S2], past())).toBe('every');
  });

  it('that the parent showed before are spent, but not for the last holder or an operator', () => {
    const shown = new Set(S1.slice(1));
    expect(chooseStaticSets(ME, [S1, S2], past({ shown }))).toEqual([shared(S2)]);
    expect(chooseStaticSets(ME, [S1, S2], past({ shown, mayBeSeen: true }))).toBe('every');
  });

  it('are one for each claim where several accounts wait, and none when all are given', () => {
    const contested = { isContested: true };
    expect(chooseStaticSets(ME, [S1, S2], past({ ...contested, rights: [right(S1, THEY)] }))).toEqual([
      shared(S2),
    ]);
    expect(chooseStaticSets(ME, [S1, S2], past({ ...contested, rights: [right(S2, ME)] }))).toEqual([
      shared(S2),
    ]);
    const all = [right(S1, THEY), right(S2, 3)];
    expect(chooseStaticSets(ME, [S1, S2], past({ ...contested, rights: all }))).toEqual([]);
  });

  it('of which there is one is spent only where another account has to do with the name', () => {
    const shown = new Set(S1);
    expect(chooseStaticSets(ME, [S1], past({ shown }))).toBe('every');
    expect(chooseStaticSets(ME, [S1], past({ shown, isContested: true }))).toEqual([]);
  });
});

describe('the set of an account', () => {
  it('proves its claims, also where the parent showed it before, if no other account ever gets it', () => {
    const own = { names: OWN, exclusive: true };
    expect(choosePoolSets(ME, own, past({ shown: new Set(OWN), isContested: true }))).toEqual({
      kind: 'sets',
      sets: [own],
    });
  });

  it('that is shared proves nothing where the parent showed it, and a substitute must be new to the name', () => {
    const shown = new Set(OWN.slice(0, 1));
    const choice = choosePoolSets(ME, shared(OWN), past({ shown, rights: [right(SPARE, THEY, true)] }));
    if (choice.kind !== 'substitute') throw new Error(choice.kind);
    expect([OWN, SPARE, S1].map(choice.isUsable)).toEqual([false, false, true]);
  });

  it('stands alone where the parent meanwhile showed a shared one that the account had here before', () => {
    const own = { names: OWN, exclusive: true };
    const rights = [right(S1, ME), right(S2, ME)];
    expect(choosePoolSets(ME, own, past({ rights, shown: new Set(S1) }))).toEqual({
      kind: 'sets',
      sets: [own, shared(S2)],
    });
  });

  it('is replaced where an operator gave the right to it to another account; an exclusive right of before comes first', () => {
    const own = { names: OWN, exclusive: true };
    expect(choosePoolSets(ME, own, past({ rights: [right(OWN, THEY)] })).kind).toBe('substitute');
    const rights = [right(OWN, THEY), right(SPARE, ME, true)];
    expect(choosePoolSets(ME, own, past({ rights }))).toEqual({
      kind: 'sets',
      sets: [{ names: SPARE, exclusive: true }],
    });
  });
});

it('a set is new to a name when nobody else has the right to it, and the parent never showed it', () => {
  const { rights, shown } = past({ rights: [right(S1, THEY)], shown: new Set(S2) });
  expect([S1, S2, OWN].map((set) => isNewToName(set, ME, { rights, shown }))).toEqual([false, false, true]);
});

it('the rights of a claim that end with it are those to shared sets which the parent never showed', () => {
  const rights = [
    { names: ['a.'], accountId: ME, exclusive: false },
    { names: ['b.'], accountId: ME, exclusive: false },
    { names: ['c.'], accountId: ME, exclusive: true },
    { names: ['d.'], accountId: THEY, exclusive: false },
  ];
  expect(endingRights(rights, ME, [['b.', 'x.']]).map(({ names: set }) => set[0])).toEqual(['a.']);
});

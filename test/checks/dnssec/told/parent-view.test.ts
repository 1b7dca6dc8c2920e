// What the DS records that the parent shows mean to us.

import { describe, expect, it } from 'vitest';
import { enable } from '../../../../src/checks/dnssec/goals.ts';
import { RULES } from '../../../../src/checks/dnssec/rules.ts';
import { dsOfKey, viewParent } from '../../../../src/checks/dnssec/told/parent-view.ts';
import { dsOf, madeKey } from '../../../support/simulation/dnssec/made-keys.ts';
import { QuietDomain } from '../../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const FOREIGN = dsOf(madeKey('foreign', 'csk', 8));

function seen(...shown: (readonly string[] | undefined)[]) {
  const domain = new QuietDomain();
  domain.want((machine) => enable(machine, [A]));
  domain.shown = shown;
  domain.run(3);
  return viewParent(domain.machine, RULES);
}

describe('the DS records at the parent', () => {
  it('are counted by the addresses that show them', () => {
    const view = seen([dsOf(A)], [dsOf(A), FOREIGN], []);
    expect(view).toMatchObject({ addresses: 3, agreeing: 1, ttl: 3600, everywhere: [] });
    expect(view.records).toEqual([
      { text: dsOf(A), meaning: 'wanted', keyId: 'a', addresses: 2, isWeak: false },
      { text: FOREIGN, meaning: 'other', addresses: 1, isWeak: false },
    ]);
  });

  it('of an address that was never heard do not count', () => {
    expect(seen([dsOf(A)], undefined)).toMatchObject({ addresses: 1, agreeing: 1 });
  });

  it('are none while nobody was asked', () => {
    const { machine } = new QuietDomain();
    expect(viewParent(machine, RULES)).toEqual({
      records: [],
      addresses: 0,
      agreeing: 0,
      ttl: undefined,
      everywhere: [],
    });
  });

  it('have one text for each digest', () => {
    expect([1, 2, 4].map((type) => dsOfKey(A, type))).toEqual([...A.ds]);
    expect(dsOfKey(madeKey('z', 'zsk', 13), 2)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { ValidationBudget } from '../../../src/checks/validation/budget.ts';
import { dsOf } from '../../../src/checks/validation/roll-anchors.ts';
import { readRootKeys } from '../../../src/checks/validation/root-keys.ts';
import { type SignedSet, setAt } from '../../../src/checks/validation/signed-sets.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import {
  KEY_SIGNING_KEY,
  makeKey,
  REVOKED,
  type SigningKey,
  withFlags,
  ZONE_KEY,
} from '../../support/dnssec/signing.ts';
import { name } from '../../support/world/zone-exchange.ts';

const AT = 1_700_000_000;
const [OLD, NEW] = [makeKey(8), makeKey(13)];
const ZSK = makeKey(13, ZONE_KEY);
const [OLD_REVOKED, NEW_REVOKED] = [OLD, NEW].map((key) => withFlags(key, KEY_SIGNING_KEY | REVOKED)) as [
  SigningKey,
  SigningKey,
];

function read(keys: readonly SigningKey[], signers: readonly SigningKey[]) {
  const zone = new SignedZone({
    apex: name('.'),
    text: '@ NS a.root.',
    keys: { entry: signers, others: [], idle: keys.map(({ rdata }) => rdata) },
    time: { inception: AT - 1000, expiration: AT + 1000 },
    denial: { kind: 'nsec' },
  });
  const set = setAt(zone.answer({ name: name('.'), type: TYPE.DNSKEY }).answers, name('.'), TYPE.DNSKEY);
  return readRootKeys(set as SignedSet, [dsOf(OLD.rdata)], { at: AT, budget: new ValidationBudget() });
}

describe('the keys of the root', () => {
  it('that an anchor vouches for may become anchors, but for those that sign data only', () => {
    const { present, revoked } = read([OLD, NEW, ZSK], [OLD]);
    expect(present).toHaveLength(2);
    expect(present).toEqual(expect.arrayContaining([OLD.rdata, NEW.rdata]));
    expect(revoked).toEqual([]);
  });

  it('are none where no anchor signed the set', () => {
    expect(read([OLD, NEW], [NEW]).present).toBeUndefined();
  });

  it('revoke themselves with their own signature alone', () => {
    expect(read([OLD_REVOKED, NEW], [OLD_REVOKED, NEW])).toEqual({
      present: undefined,
      revoked: [OLD.rdata],
    });
    expect(read([OLD_REVOKED, NEW], [NEW]).revoked).toEqual([]);
    const both = read([OLD, NEW_REVOKED], [OLD, NEW_REVOKED]);
    expect(both).toEqual({ present: [OLD.rdata], revoked: [NEW.rdata] });
  });
});

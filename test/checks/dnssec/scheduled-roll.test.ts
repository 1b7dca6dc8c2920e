import { expect, test } from 'vitest';
import { disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import { oldZsk } from '../../../src/checks/dnssec/scheduled-roll.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { DAY, QuietDomain, START } from '../../support/simulation/dnssec/quiet-domain.ts';

const KSK = madeKey('k', 'ksk', 13);
const ZSK = madeKey('z', 'zsk', 13);
const CSK = madeKey('c', 'csk', 13);

function secure(...keys: ReturnType<typeof madeKey>[]): QuietDomain {
  const domain = new QuietDomain();
  domain.want((machine) => enable(machine, keys));
  domain.run(24 * 3);
  domain.show(dsOf(keys[0] as typeof KSK));
  domain.run(24);
  expect(domain.machine.waiting).toBeNull();
  return domain;
}

const old = ({ machine }: QuietDomain, days: number, signedZoneId = 100) =>
  oldZsk(machine, { everyMs: 30 * DAY, signedZoneId, madeAt: () => START }, START + days * DAY);

test('a ZSK is replaced when it is old', () => {
  const domain = secure(KSK, ZSK);
  expect(old(domain, 29.9)).toBeUndefined();
  expect(old(domain, 30)).toBe('z');
});

test('zones that were signed together are spread over a tenth of the time', () => {
  const domain = secure(KSK, ZSK);
  expect(old(domain, 31.4, 50)).toBeUndefined();
  expect(old(domain, 31.5, 50)).toBe('z');
  expect(old(domain, 33, 99)).toBe('z');
});

test('a key that the parent knows is not replaced', () => {
  expect(old(secure(CSK), 300)).toBeUndefined();
});

test('no ZSK is replaced while anything else is under way or requested', () => {
  const rolling = secure(KSK, ZSK);
  rolling.want((machine) => roll(machine, [madeKey('n', 'zsk', 13)], false));
  expect(old(rolling, 300)).toBeUndefined();
  rolling.run(24 * 8);
  expect(old(rolling, 300)).toBe('n');
  const leaving = secure(KSK, ZSK);
  leaving.want((machine) => disable(machine, false));
  leaving.run(1);
  expect(old(leaving, 300)).toBeUndefined();
});

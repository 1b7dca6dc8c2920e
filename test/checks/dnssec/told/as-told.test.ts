import { expect, it } from 'vitest';
import { enable, roll } from '../../../../src/checks/dnssec/goals.ts';
import { RULES } from '../../../../src/checks/dnssec/rules.ts';
import { asTold } from '../../../../src/checks/dnssec/told/as-told.ts';
import { dsOf, madeKey } from '../../../support/simulation/dnssec/made-keys.ts';
import { QuietDomain } from '../../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);

it('tells what is asked for, but in a restored database only what is there already, until the next look', () => {
  const domain = new QuietDomain();
  const told = () => asTold(domain.machine, domain.epoch, RULES).asked;
  domain.want((machine) => enable(machine, [A]));
  domain.run(1000, ({ asked }) => asked.length > 0);
  expect(told()).toEqual(['a']);
  domain.epoch = 'restored';
  expect(told()).toEqual([]);
  domain.run(1);
  expect(told()).toEqual(['a']);
  domain.show(dsOf(A));
  domain.run(3);
  domain.epoch = 'restored again';
  expect(told()).toEqual(['a']);
  domain.run(1000, ({ hold }) => hold === null);
  domain.want((machine) => roll(machine, [B], false));
  domain.run(1000, ({ asked }) => asked.includes('b'));
  domain.epoch = 'restored once more';
  expect(told()).toEqual([]);
});

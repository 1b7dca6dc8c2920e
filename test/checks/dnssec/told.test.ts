// Where a domain is, what its owner has to enter at the registrar, and what he is told, at each stage of its way.

import { describe, expect, it } from 'vitest';
import { disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import { DAY_MS, RULES } from '../../../src/checks/dnssec/rules.ts';
import { type DelegatedTo, dnssecFindings } from '../../../src/checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../../src/checks/dnssec/told/dnssec-status.ts';
import { registrarAction } from '../../../src/checks/dnssec/told/registrar-action.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const FOREIGN = dsOf(madeKey('foreign', 'csk', 8));
const WEAK = A.ds[0] as string;
const MISTYPED = dsOf(A).replace(/..$/, '00');
const DAYS = 24;

const then = (domain: QuietDomain, ...steps: readonly ((domain: QuietDomain) => unknown)[]) => {
  for (const step of steps) step(domain);
  return domain;
};
const pass = (hours: number) => (domain: QuietDomain) => domain.run(hours);
const showing = (domain: QuietDomain, ...ds: readonly string[]) =>
  then(domain, (one) => one.show(...ds), pass(2));

const enabled = () => then(new QuietDomain(), (one) => one.want((machine) => enable(machine, [A])));
const waiting = () => then(enabled(), pass(5));
const asked = () =>
  then(enabled(), (one) => one.run(10 * DAYS, (machine) => machine.asked.length > 0), pass(2));
const secure = () => then(showing(asked(), dsOf(A)), pass(1));
const rolling = () =>
  then(
    secure(),
    (one) => one.want((machine) => roll(machine, [B], false)),
    (one) => one.run(10 * DAYS, (machine) => machine.asked.includes('b')),
  );
const removing = () => then(secure(), (one) => one.want((machine) => disable(machine, false)), pass(2));
const partial = () => then(Object.assign(asked(), { shown: [[dsOf(A)], []] }), pass(2));
const unsigned = () => then(showing(removing()), pass(9 * DAYS));

function tell({ machine, at }: QuietDomain, to: DelegatedTo = 'ours') {
  const { action, add, remove } = registrarAction(machine, RULES);
  return {
    status: dnssecStatus(machine, RULES),
    action,
    add,
    remove,
    codes: dnssecFindings(machine, to, at, RULES).map(({ code }) => code),
  };
}

const STATES = {
  new: () => new QuietDomain(),
  ...{ enabled, waiting, asked, partial, secure, rolling, removing, unsigned },
};
const DS: Record<string, string> = { A: dsOf(A), B: dsOf(B), FOREIGN, WEAK, MISTYPED };
const dsNamed = (text = '') => text.split(' ').flatMap((name) => (name === '' ? [] : (DS[name] as string)));

/** Each row: the domain | the states it went through, and the DS then shown | status | action | DS to add | to remove | codes. */
describe('a domain', () => {
  it.each(
    rowsOf(`
that was never signed | new | off | none | | |
that is enabled and not written | enabled | signing | wait | | |
signed, while caches hold what was unsigned | waiting | waiting | wait | | |
whose DS may be entered | asked | ds_wanted | add | A | | DS_WANTED
whose registry is under way | partial | ds_wanted | wait | | | DS_PARTIAL
whose DS every address shows | secure | secure | none | | |
with a DS of nobody beside ours | secure + A FOREIGN | secure | remove | | FOREIGN | DS_EXTRA / DS_REMOVE
with a DS of nobody alone | secure + FOREIGN | broken | replace | A | FOREIGN | DS_OTHER / DS_REPLACE
with a wrong digit in its DS | asked + MISTYPED | broken | replace | A | MISTYPED | DS_MISTYPED / DS_REPLACE
with SHA-1 only | secure + WEAK | secure | none | | | DS_WEAK
that waits for the DS of another key | rolling | rolling | replace | B | A | DS_REPLACE
that shows both keys | rolling + A B | rolling | remove | | A | DS_REMOVE
that shows the new key | rolling + B | rolling | none | | |
that is disabled | removing | ds_removal | remove | | A | DS_REMOVE
without its DS, for the stay | removing + | ds_removal | wait | | |
that is unsigned again | unsigned | off | none | | |`),
  )('%s', (_, reached = '', status, action, add, remove, codes) => {
    const [state = '', shown] = reached.split(' +');
    const before = STATES[state as keyof typeof STATES]();
    const domain = shown === undefined ? before : showing(before, ...dsNamed(shown));
    expect(tell(domain)).toEqual({
      status,
      action,
      add: dsNamed(add),
      remove: dsNamed(remove),
      codes: itemsOf(codes),
    });
  });

  it('has settled when the old key of a rollover is gone', () => {
    const domain = then(showing(rolling(), dsOf(B)), pass(9 * DAYS));
    expect(tell(domain)).toMatchObject({ status: 'secure', action: 'none', codes: [] });
  });

  it('is told which key a mistyped DS means, and how it must read', () => {
    const [finding] = dnssecFindings(showing(asked(), MISTYPED).machine, 'ours', 0, RULES);
    expect(finding?.message).toContain(`digest ${dsOf(A).split(' ')[3]}`);
    expect(finding?.severity).toBe('error');
  });

  it('is told when it left with its DS, and when servers of others answer beside ours', () => {
    expect(tell(secure(), 'elsewhere').codes).toEqual(['DS_LEFT_BEHIND']);
    expect(tell(secure(), 'both').codes).toEqual(['DS_UNSIGNED_SERVERS']);
    expect(tell(asked(), 'elsewhere').codes).toEqual(['DS_WANTED']);
  });

  it('is told after three days what a step waits for, unless the owner has to act', () => {
    const domain = then(enabled(), pass(2));
    domain.failure = 'a signature is wrong';
    expect(tell(then(domain, pass(2 * DAYS))).codes).toEqual([]);
    expect(tell(then(domain, pass(9 * DAYS))).codes).toEqual(['DNSSEC_STEP_WAITS']);
    expect(tell(then(asked(), pass(9 * DAYS))).codes).toEqual(['DS_WANTED']);
  });

  it('is told until when it waits for caches, or for a DS that may come back', () => {
    const domain = then(showing(removing()), pass(4 * DAYS));
    const [finding] = dnssecFindings(domain.machine, 'ours', domain.at, RULES);
    const end = new Date(domain.machine.waiting?.until as number).toISOString();
    expect(finding).toMatchObject({ code: 'DNSSEC_STEP_WAITS', severity: 'info' });
    expect(finding?.message).toContain(end.slice(0, 16));
    expect(tell(then(domain, pass(9 * DAYS))).codes).toEqual([]);
  });

  it('is told that the zone publishes CDS records, also to have no DS', () => {
    for (const { machine, at } of [asked(), removing(), showing(rolling(), dsOf(A), dsOf(B))])
      expect(dnssecFindings(machine, 'ours', at, RULES)[0]?.message).toContain('CDS');
  });

  it('is told when the zone above is not signed', () => {
    const { machine, at } = secure();
    const above = { ...machine, parent: { ...machine.parent, isSecure: false } };
    expect(dnssecFindings(above, 'ours', at, RULES).map(({ code }) => code)).toEqual(['PARENT_UNSIGNED']);
  });

  it('is told from when a DS may be entered, and of none before', () => {
    const domain = waiting();
    const action = registrarAction(domain.machine, RULES);
    expect(action).toMatchObject({ action: 'wait', add: [] });
    expect(action.from).toBeGreaterThan(domain.at);
    expect((action.from ?? 0) - domain.at).toBeLessThan(3 * DAY_MS);
  });
});

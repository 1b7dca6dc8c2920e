import { describe, expect, it, test } from 'vitest';
import { disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import { DAY_MS, RULES } from '../../../src/checks/dnssec/rules.ts';
import { asTold } from '../../../src/checks/dnssec/told/as-told.ts';
import { dnssecFindings } from '../../../src/checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../../src/checks/dnssec/told/dnssec-status.ts';
import type { DelegatedTo } from '../../../src/checks/dnssec/told/foreign-findings.ts';
import { dsOfKey, viewParent } from '../../../src/checks/dnssec/told/parent-view.ts';
import { registrarAction } from '../../../src/checks/dnssec/told/registrar-action.ts';
import { isReminderDue, ownersDuty } from '../../../src/checks/dnssec/told/reminder.ts';
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

/** Runs the days once for all tests, each of which gets a copy. */
function once(make: () => QuietDomain): () => QuietDomain {
  let made: QuietDomain | undefined;
  return () => {
    made ??= make();
    return made.copy();
  };
}

const enabled = () => then(new QuietDomain(), (one) => one.want((machine) => enable(machine, [A])));
const waiting = () => then(enabled(), pass(5));
const asked = once(() =>
  then(enabled(), (one) => one.run(10 * DAYS, (machine) => machine.asked.length > 0), pass(2)),
);
const secure = once(() => then(showing(asked(), dsOf(A)), pass(1)));
const rolling = once(() =>
  then(
    secure(),
    (one) => one.want((machine) => roll(machine, [B], false)),
    (one) => one.run(10 * DAYS, (machine) => machine.asked.includes('b')),
  ),
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

/**
 * Each row: the domain | the states it went through, and the DS then shown | status | action | DS to add | to remove |
 * codes.
 */
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

  it('is complete once the old key of a rollover is gone', () => {
    const domain = then(showing(rolling(), dsOf(B)), pass(9 * DAYS));
    expect(tell(domain)).toMatchObject({ status: 'secure', action: 'none', codes: [] });
  });

  it('shows which key a mistyped DS refers to, and the correct DS', () => {
    const [finding] = dnssecFindings(showing(asked(), MISTYPED).machine, 'ours', 0, RULES);
    expect(finding?.message).toContain(`digest ${dsOf(A).split(' ')[3]}`);
    expect(finding?.severity).toBe('error');
  });

  it("has a finding if it left with its DS, and if other operators' servers answer next to ours", () => {
    expect(tell(secure(), 'elsewhere').codes).toEqual(['DS_LEFT_BEHIND']);
    expect(tell(secure(), 'both').codes).toEqual(['DS_UNSIGNED_SERVERS']);
    expect(tell(asked(), 'elsewhere').codes).toEqual(['DS_WANTED']);
  });

  it('shows after three days what a step waits for, unless the owner must act', () => {
    const domain = then(enabled(), pass(2));
    domain.failure = 'a signature is invalid';
    expect(tell(then(domain, pass(2 * DAYS))).codes).toEqual([]);
    expect(tell(then(domain, pass(9 * DAYS))).codes).toEqual(['DNSSEC_STEP_WAITS']);
    expect(tell(then(asked(), pass(9 * DAYS))).codes).toEqual(['DS_WANTED']);
  });

  it('shows how long it waits for caches, or for a DS that may return', () => {
    const domain = then(showing(removing()), pass(4 * DAYS));
    const [finding] = dnssecFindings(domain.machine, 'ours', domain.at, RULES);
    const end = new Date(domain.machine.waiting?.until as number).toISOString();
    expect(finding).toMatchObject({ code: 'DNSSEC_STEP_WAITS', severity: 'info' });
    expect(finding?.message).toContain(end.slice(0, 16));
    expect(tell(then(domain, pass(9 * DAYS))).codes).toEqual([]);
  });

  it('mentions that the zone publishes CDS records, also to remove the DS', () => {
    for (const { machine, at } of [asked(), removing(), showing(rolling(), dsOf(A), dsOf(B))])
      expect(dnssecFindings(machine, 'ours', at, RULES)[0]?.message).toContain('CDS');
  });

  it('has a finding if the parent zone is not signed', () => {
    const { machine, at } = secure();
    const above = { ...machine, parent: { ...machine.parent, isSecure: false } };
    expect(dnssecFindings(above, 'ours', at, RULES).map(({ code }) => code)).toEqual(['PARENT_UNSIGNED']);
  });

  it('shows from when a DS may be entered, and none before', () => {
    const domain = waiting();
    const action = registrarAction(domain.machine, RULES);
    expect(action).toMatchObject({ action: 'wait', add: [] });
    expect(action.from).toBeGreaterThan(domain.at);
    expect((action.from ?? 0) - domain.at).toBeLessThan(3 * DAY_MS);
  });
});

it('shows the requested DS, but in a restored database only an existing DS until the next examination', () => {
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

  it('of an address that never answered do not count', () => {
    expect(seen([dsOf(A)], undefined)).toMatchObject({ addresses: 1, agreeing: 1 });
  });

  it('are empty without a query', () => {
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

const finding = (
  code: 'DS_WANTED' | 'DS_OTHER' | 'DS_PARTIAL' | 'PARENT_UNSIGNED' | 'DNSSEC_STEP_WAITS' | 'DS_WEAK',
  severity: 'info' | 'warning' | 'error' = 'info',
) => ({ code, severity, message: `about ${code}` });

describe("the owner's required action", () => {
  it('is none while only we, the registry or caches must act', () => {
    expect(ownersDuty([])).toBeUndefined();
    const others = [
      finding('DS_PARTIAL'),
      finding('PARENT_UNSIGNED'),
      finding('DNSSEC_STEP_WAITS', 'warning'),
    ];
    expect(ownersDuty(others)).toBeUndefined();
  });

  it('starts with the finding that makes resolvers reject the domain', () => {
    const duty = ownersDuty([finding('DS_WANTED'), finding('DS_PARTIAL'), finding('DS_OTHER', 'error')]);
    expect(duty).toEqual({ message: 'about DS_OTHER\n\nabout DS_WANTED', isUrgent: true });
    expect(ownersDuty([finding('DS_WEAK', 'warning')])).toMatchObject({ isUrgent: false });
  });

  it('has at most three sentences', () => {
    const many = Array.from({ length: 9 }, () => finding('DS_WANTED'));
    expect(ownersDuty(many)?.message.split('\n\n')).toHaveLength(3);
  });
});

const now = 1000 * DAY_MS;
test.each([
  ['wanted for two days', false, 2, undefined, false],
  ['wanted for three days', false, 3, undefined, true],
  ['urgent, for an hour', true, 1 / 24, undefined, false],
  ['urgent, for a day', true, 1, undefined, true],
  ['reminded 29 days ago', false, 60, 29, false],
  ['reminded 30 days ago', false, 60, 30, true],
  ['urgent, and reminded yesterday', true, 60, 1, false],
] as const)('%s: a mail is due: %s %d %s → %s', (_, isUrgent, wantedDays, remindedDays, isDue) => {
  const remindedAt = remindedDays === undefined ? undefined : now - remindedDays * DAY_MS;
  expect(isReminderDue({ isUrgent }, { wantedSince: now - wantedDays * DAY_MS, remindedAt }, now)).toBe(
    isDue,
  );
});

import { describe, expect, it } from 'vitest';
import { abort, disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import { nextStep } from '../../../src/checks/dnssec/next-keys.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { DNSSEC_STATUSES, dnssecStatus } from '../../../src/checks/dnssec/told/dnssec-status.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const C = madeKey('c', 'csk', 13);
const E = madeKey('e', 'csk', 15);
const Z = madeKey('z', 'zsk', 13);
const DAYS = 24;

/** Each state: the one before it, and what leads on. */
const STATES: Readonly<Record<string, readonly [string | undefined, (domain: QuietDomain) => void]>> = {
  off: [undefined, (d) => d.run(2)],
  signing: ['off', (d) => [Object.assign(d, { isWriting: true }), d.want((m) => enable(m, [A])), d.run(1)]],
  waiting: ['off', (d) => [d.want((m) => enable(m, [A])), d.run(10)]],
  asked: ['waiting', (d) => [d.run(10 * DAYS, ({ asked }) => asked.length > 0), d.run(2)]],
  secure: ['asked', (d) => [d.show(dsOf(A)), d.run(3)]],
  published: ['secure', (d) => [d.want((m) => roll(m, [B], false)), d.run(5)]],
  swapped: ['published', (d) => [d.run(10 * DAYS, ({ asked }) => asked.includes('b')), d.run(2)]],
  replaced: ['swapped', (d) => [d.show(dsOf(B)), d.run(8 * DAYS - 24)]],
  presigned: ['secure', (d) => [d.want((m) => roll(m, [E], false)), d.run(5)]],
  both: ['presigned', (d) => [d.run(10 * DAYS, ({ asked }) => asked.includes('e')), d.run(2)]],
  removing: ['secure', (d) => [d.want((m) => disable(m, false)), d.run(5)]],
  removed: ['removing', (d) => [d.show(), d.run(6 * DAYS)]],
  unsigning: ['removed', (d) => [Object.assign(d, { isWriting: true }), d.run(3 * DAYS)]],
  unsigned: ['removed', (d) => d.run(3 * DAYS)],
};

/** A DS of the first key with a wrong digest. */
const MISTYPED = dsOf(A).replace(/.$/, 'F');

/** What the parent's two addresses show for the next three hours; `away`: no DS, and servers of others. */
const EVIDENCE: Readonly<Record<string, (d: QuietDomain) => (readonly string[] | undefined)[]>> = {
  same: (d) => [...d.shown],
  none: () => [[], []],
  a: () => [[dsOf(A)], [dsOf(A)]],
  'a,-': () => [[dsOf(A)], []],
  b: () => [[dsOf(B)], [dsOf(B)]],
  ab: () => [
    [dsOf(A), dsOf(B)],
    [dsOf(A), dsOf(B)],
  ],
  other: () => [['1 13 2 00FF'], ['1 13 2 00FF']],
  typo: () => [[MISTYPED], [MISTYPED]],
  silent: () => [undefined, undefined],
  away: (d) => {
    d.delegation = { kind: 'not_ours' };
    return [[], []];
  },
};

const GOALS: Readonly<Record<string, (m: Machine) => Machine | string>> = {
  on: (m) => enable(m, m.keys.length > 0 ? [] : [A]),
  off: (m) => disable(m, false),
  roll: (m) => roll(m, [C], false),
  zsk: (m) => roll(m, [Z], false),
  abort,
};

/** `states goals | evidence … | the steps of the next three hours, then what is waited for`, or why the goal is refused. */
const TABLE = `
off,unsigned on                                  | same none b other typo silent          | sign > caches
off,unsigned on                                  | a a,- ab                               | bring_back > caches
off,unsigned on                                  | away                                   | sign > delegation a
off off                                          | any                                    | rest
off,removing,removed,unsigning,unsigned roll,zsk | any                                    | off
off,secure,unsigned abort                        | any                                    | nothing
signing on,off,roll,zsk,abort                    | any                                    | writing
waiting,published,presigned on                   | same none a a,- b ab other typo silent | caches
waiting on                                       | away                                   | delegation a
waiting off,abort                                | same none b other typo silent away     | unsign > rest
waiting off,abort                                | a a,- ab                               | ds_unwanted a
waiting roll                                     | same none b other typo silent away     | publish > change_signatures > withdraw > nodes
waiting roll,zsk                                 | a a,- ab                               | caches
waiting zsk                                      | same none b other typo silent          | publish > change_signatures > caches
waiting zsk                                      | away                                   | publish > change_signatures > delegation a
asked on                                         | same none a,- b other typo silent      | ds_wanted a
asked on                                         | a ab                                   | rest
asked,secure on                                  | away                                   | ask_none > delegation a
asked off,abort                                  | same none b other typo silent away     | ask_none > stay a
asked off,abort                                  | a a,- ab                               | ask_none > ds_unwanted a
asked,secure roll,zsk                            | same none a a,- b ab other typo silent | publish > caches
asked,secure roll,zsk                            | away                                   | ask_none > publish > caches
secure on                                        | same a ab silent                       | rest
secure on                                        | none a,- b other typo                  | ds_wanted a
secure,presigned,both off                        | same a a,- ab silent                   | ask_none > ds_unwanted a
secure,presigned off                             | none b other typo away                 | ask_none > stay a
published,presigned on                           | away                                   | ask_none > caches
published,swapped off                            | same a a,- silent                      | ask_none > ds_unwanted a
published off                                    | none other typo away                   | ask_none > stay a
published,swapped off                            | b                                      | ask_none > ds_unwanted b
published,swapped,replaced off                   | ab                                     | ask_none > ds_unwanted ab
published,swapped,replaced,presigned,both roll,zsk | any                                    | busy
published abort                                  | same a silent                          | withdraw > rest
published abort                                  | none a,- other typo                    | withdraw > ds_wanted a
published abort                                  | b                                      | ds_wanted a
published abort                                  | ab                                     | ds_unwanted b
published abort                                  | away                                   | ask_none > withdraw > delegation a
swapped on                                       | same none a a,- other typo silent      | ds_wanted b
swapped on                                       | b                                      | stay a
swapped,replaced on                              | ab                                     | ds_unwanted a
swapped,replaced on                              | away                                   | ask_none > delegation b
swapped,replaced off                             | none other typo away                   | ask_none > stay ab
swapped abort                                    | same a silent                          | change_signatures > ask > stay b
swapped abort                                    | none a,- b other typo                  | change_signatures > ask > ds_wanted a
swapped,replaced abort                           | ab                                     | change_signatures > ask > ds_unwanted b
swapped,replaced,presigned abort                 | away                                   | ask_none > change_signatures > delegation a
replaced on                                      | same b silent                          | withdraw > rest
replaced on                                      | none a a,- other typo                  | ds_wanted b
replaced off                                     | same b silent                          | ask_none > ds_unwanted b
replaced off                                     | a a,-                                  | ask_none > ds_unwanted a
replaced abort                                   | same none a,- b other typo silent      | change_signatures > ask > ds_wanted a
replaced abort                                   | a                                      | change_signatures > ask > stay b
presigned abort                                  | same a ab silent                       | change_signatures > rest
presigned abort                                  | none a,- b other typo                  | change_signatures > ds_wanted a
both on                                          | same none a a,- b ab other typo silent | ds_wanted e
both on                                          | away                                   | ask_none > delegation e
both off                                         | none b other typo away                 | ask_none > stay ae
both abort                                       | away                                   | ask_none > delegation a
both abort                                       | same a ab silent                       | ask > stay e
both abort                                       | none a,- b other typo                  | ask > ds_wanted a
removing,removed on,abort                        | away                                   | delegation a
removing on,abort                                | none a,- b other typo                  | ask > ds_wanted a
removing on,abort                                | same a ab silent                       | ask > rest
removing off                                     | same a a,- ab silent                   | ds_unwanted a
removing off                                     | none b other typo away                 | stay a
removed on,abort                                 | same none a,- b other typo silent      | ask > ds_wanted a
removed on,abort                                 | a ab                                   | ask > rest
removed off                                      | a a,- ab                               | ds_unwanted a
removed off                                      | same none b other typo silent away     | stay a
unsigning on,off,abort                           | any                                    | writing
unsigned off                                     | same none b other typo silent away     | rest
unsigned off                                     | a a,- ab                               | bring_back > ds_unwanted a
`;

const ROWS = TABLE.trim()
  .split('\n')
  .flatMap((row) => {
    const [from = '', evidence = '', then = ''] = row.split('|').map((cell) => cell.trim());
    const [states = '', goals = ''] = from.split(' ');
    const kinds = evidence === 'any' ? Object.keys(EVIDENCE) : evidence.split(' ');
    return states
      .split(',')
      .flatMap((state) => goals.split(',').map((goal) => ({ state, goal, then, kinds })));
  });

const reached = new Map<string, QuietDomain>();

function reach(state: string): QuietDomain {
  const known = reached.get(state);
  if (known !== undefined) return known.copy();
  const [before, leadOn] = STATES[state] as (typeof STATES)[string];
  const domain = before === undefined ? new QuietDomain() : reach(before);
  leadOn(domain);
  reached.set(state, domain);
  return domain.copy();
}

function begin(state: string, evidence: string): QuietDomain {
  const domain = reach(state);
  domain.shown = EVIDENCE[evidence]?.(domain) ?? [];
  return domain;
}

function play(state: string, goal: string, evidence: string): string {
  const domain = begin(state, evidence);
  const before = domain.steps.length;
  const changed = GOALS[goal]?.(domain.machine);
  if (typeof changed === 'string') return changed;
  domain.machine = changed as Machine;
  domain.run(3);
  const next = nextStep(domain.machine, domain.delegation, domain.at, RULES);
  const steps = domain.steps.slice(before).map(({ kind }) => kind);
  const rest =
    next.kind === 'wait' ? [next.cause, ...(next.keys.length > 0 ? [next.keys.join('')] : [])] : [];
  return [...steps, rest.length > 0 ? rest.join(' ') : next.kind].join(' > ');
}

describe('the table of steps', () => {
  it('has one row for each combination of state, goal and evidence', () => {
    const all = Object.keys(STATES).flatMap((state) =>
      Object.keys(GOALS).flatMap((goal) => Object.keys(EVIDENCE).map((kind) => `${state} ${goal} ${kind}`)),
    );
    const rows = ROWS.flatMap(({ state, goal, kinds }) => kinds.map((kind) => `${state} ${goal} ${kind}`));
    expect(rows.sort()).toEqual(all.sort());
  });

  it('has states of every status', () => {
    const statuses = Object.keys(STATES).flatMap((state) =>
      ['same', 'other'].map((evidence) => {
        const domain = begin(state, evidence);
        domain.run(1);
        return dnssecStatus(domain.machine, RULES);
      }),
    );
    expect([...new Set([...statuses, 'verbatim'])].sort()).toEqual([...DNSSEC_STATUSES].sort());
  });

  it.each(ROWS)('$state, $goal, the parent shows $kinds: $then', ({ state, goal, kinds, then }) => {
    expect(kinds.map((kind) => [kind, play(state, goal, kind)])).toEqual(kinds.map((kind) => [kind, then]));
  });
});

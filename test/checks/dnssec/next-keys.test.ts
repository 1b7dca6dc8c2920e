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

/** Each state, reached by its usual way. */
const STATES: Readonly<Record<string, (domain: QuietDomain) => void>> = {
  off: (d) => d.run(2),
  signing: (d) => {
    STATES.off?.(d);
    d.isWriting = true;
    d.want((m) => enable(m, [A]));
    d.run(1);
  },
  waiting: (d) => {
    STATES.off?.(d);
    d.want((m) => enable(m, [A]));
    d.run(10);
  },
  asked: (d) => {
    STATES.waiting?.(d);
    d.run(10 * DAYS, ({ asked }) => asked.length > 0);
    d.run(2);
  },
  secure: (d) => {
    STATES.asked?.(d);
    d.show(dsOf(A));
    d.run(3);
  },
  published: (d) => {
    STATES.secure?.(d);
    d.want((m) => roll(m, [B], false));
    d.run(5);
  },
  swapped: (d) => {
    STATES.published?.(d);
    d.run(10 * DAYS, ({ asked }) => asked.includes('b'));
    d.run(2);
  },
  replaced: (d) => {
    STATES.swapped?.(d);
    d.show(dsOf(B));
    d.run(8 * DAYS - 24);
  },
  presigned: (d) => {
    STATES.secure?.(d);
    d.want((m) => roll(m, [E], false));
    d.run(5);
  },
  both: (d) => {
    STATES.presigned?.(d);
    d.run(10 * DAYS, ({ asked }) => asked.includes('e'));
    d.run(2);
  },
  removing: (d) => {
    STATES.secure?.(d);
    d.want((m) => disable(m, false));
    d.run(5);
  },
  removed: (d) => {
    STATES.removing?.(d);
    d.show();
    d.run(6 * DAYS);
  },
  unsigning: (d) => {
    STATES.removed?.(d);
    d.isWriting = true;
    d.run(3 * DAYS);
  },
  unsigned: (d) => {
    STATES.removed?.(d);
    d.run(3 * DAYS);
  },
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

/** `state goal | evidence … | the steps of the next three hours, then what is waited for`, or why the goal is refused. */
const TABLE = `
off on          | same none b other typo silent          | sign > caches
off on          | a a,- ab                               | bring_back > caches
off on          | away                                   | sign > delegation a
off off         | any                                    | rest
off roll        | any                                    | off
off zsk         | any                                    | off
off abort       | any                                    | nothing
signing on      | any                                    | writing
signing off     | any                                    | writing
signing roll    | any                                    | writing
signing zsk     | any                                    | writing
signing abort   | any                                    | writing
waiting on      | same none a a,- b ab other typo silent | caches
waiting on      | away                                   | delegation a
waiting off     | same none b other typo silent away     | unsign > rest
waiting off     | a a,- ab                               | ds_unwanted a
waiting roll    | same none b other typo silent away     | publish > change_signatures > withdraw > nodes
waiting roll    | a a,- ab                               | caches
waiting zsk     | same none b other typo silent          | publish > change_signatures > caches
waiting zsk     | a a,- ab                               | caches
waiting zsk     | away                                   | publish > change_signatures > delegation a
waiting abort   | same none b other typo silent away     | unsign > rest
waiting abort   | a a,- ab                               | ds_unwanted a
asked on        | same none a,- b other typo silent      | ds_wanted a
asked on        | a ab                                   | rest
asked on        | away                                   | ask_none > delegation a
asked off       | same none b other typo silent away     | ask_none > stay a
asked off       | a a,- ab                               | ask_none > ds_unwanted a
asked roll      | same none a a,- b ab other typo silent | publish > caches
asked roll      | away                                   | ask_none > publish > caches
asked zsk       | same none a a,- b ab other typo silent | publish > caches
asked zsk       | away                                   | ask_none > publish > caches
asked abort     | same none b other typo silent away     | ask_none > stay a
asked abort     | a a,- ab                               | ask_none > ds_unwanted a
secure on       | same a ab silent                       | rest
secure on       | none a,- b other typo                  | ds_wanted a
secure on       | away                                   | ask_none > delegation a
secure off      | same a a,- ab silent                   | ask_none > ds_unwanted a
secure off      | none b other typo away                 | ask_none > stay a
secure roll     | same none a a,- b ab other typo silent | publish > caches
secure roll     | away                                   | ask_none > publish > caches
secure zsk      | same none a a,- b ab other typo silent | publish > caches
secure zsk      | away                                   | ask_none > publish > caches
secure abort    | any                                    | nothing
published on    | same none a a,- b ab other typo silent | caches
published on    | away                                   | ask_none > caches
published off   | same a a,- silent                      | ask_none > ds_unwanted a
published off   | none other typo away                   | ask_none > stay a
published off   | b                                      | ask_none > ds_unwanted b
published off   | ab                                     | ask_none > ds_unwanted ab
published roll  | any                                    | busy
published zsk   | any                                    | busy
published abort | same a silent                          | withdraw > rest
published abort | none a,- other typo                    | withdraw > ds_wanted a
published abort | b                                      | ds_wanted a
published abort | ab                                     | ds_unwanted b
published abort | away                                   | ask_none > withdraw > delegation a
swapped on      | same none a a,- other typo silent      | ds_wanted b
swapped on      | b                                      | stay a
swapped on      | ab                                     | ds_unwanted a
swapped on      | away                                   | ask_none > delegation b
swapped off     | same a a,- silent                      | ask_none > ds_unwanted a
swapped off     | none other typo away                   | ask_none > stay ab
swapped off     | b                                      | ask_none > ds_unwanted b
swapped off     | ab                                     | ask_none > ds_unwanted ab
swapped roll    | any                                    | busy
swapped zsk     | any                                    | busy
swapped abort   | same a silent                          | change_signatures > ask > stay b
swapped abort   | none a,- b other typo                  | change_signatures > ask > ds_wanted a
swapped abort   | ab                                     | change_signatures > ask > ds_unwanted b
swapped abort   | away                                   | ask_none > change_signatures > delegation a
replaced on     | same b silent                          | withdraw > rest
replaced on     | none a a,- other typo                  | ds_wanted b
replaced on     | ab                                     | ds_unwanted a
replaced on     | away                                   | ask_none > delegation b
replaced off    | same b silent                          | ask_none > ds_unwanted b
replaced off    | none other typo away                   | ask_none > stay ab
replaced off    | a a,-                                  | ask_none > ds_unwanted a
replaced off    | ab                                     | ask_none > ds_unwanted ab
replaced roll   | any                                    | busy
replaced zsk    | any                                    | busy
replaced abort  | same none a,- b other typo silent      | change_signatures > ask > ds_wanted a
replaced abort  | a                                      | change_signatures > ask > stay b
replaced abort  | ab                                     | change_signatures > ask > ds_unwanted b
replaced abort  | away                                   | ask_none > change_signatures > delegation a
presigned on    | same none a a,- b ab other typo silent | caches
presigned on    | away                                   | ask_none > caches
presigned off   | same a a,- ab silent                   | ask_none > ds_unwanted a
presigned off   | none b other typo away                 | ask_none > stay a
presigned roll  | any                                    | busy
presigned zsk   | any                                    | busy
presigned abort | same a ab silent                       | change_signatures > rest
presigned abort | none a,- b other typo                  | change_signatures > ds_wanted a
presigned abort | away                                   | ask_none > change_signatures > delegation a
both on         | same none a a,- b ab other typo silent | ds_wanted e
both on         | away                                   | ask_none > delegation e
both off        | same a a,- ab silent                   | ask_none > ds_unwanted a
both off        | none b other typo away                 | ask_none > stay ae
both roll       | any                                    | busy
both zsk        | any                                    | busy
both abort      | same a ab silent                       | ask > stay e
both abort      | none a,- b other typo                  | ask > ds_wanted a
both abort      | away                                   | ask_none > delegation a
removing on     | same a ab silent                       | ask > rest
removing on     | none a,- b other typo                  | ask > ds_wanted a
removing on     | away                                   | delegation a
removing off    | same a a,- ab silent                   | ds_unwanted a
removing off    | none b other typo away                 | stay a
removing roll   | any                                    | off
removing zsk    | any                                    | off
removing abort  | same a ab silent                       | ask > rest
removing abort  | none a,- b other typo                  | ask > ds_wanted a
removing abort  | away                                   | delegation a
removed on      | same none a,- b other typo silent      | ask > ds_wanted a
removed on      | a ab                                   | ask > rest
removed on      | away                                   | delegation a
removed off     | same none b other typo silent away     | stay a
removed off     | a a,- ab                               | ds_unwanted a
removed roll    | any                                    | off
removed zsk     | any                                    | off
removed abort   | same none a,- b other typo silent      | ask > ds_wanted a
removed abort   | a ab                                   | ask > rest
removed abort   | away                                   | delegation a
unsigning on    | any                                    | writing
unsigning off   | any                                    | writing
unsigning roll  | any                                    | off
unsigning zsk   | any                                    | off
unsigning abort | any                                    | writing
unsigned on     | same none b other typo silent          | sign > caches
unsigned on     | a a,- ab                               | bring_back > caches
unsigned on     | away                                   | sign > delegation a
unsigned off    | same none b other typo silent away     | rest
unsigned off    | a a,- ab                               | bring_back > ds_unwanted a
unsigned roll   | any                                    | off
unsigned zsk    | any                                    | off
unsigned abort  | any                                    | nothing
`;

const ROWS = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [from = '', evidence = '', then = ''] = row.split('|').map((cell) => cell.trim());
    const [state = '', goal = ''] = from.split(' ');
    return { state, goal, then, kinds: evidence === 'any' ? Object.keys(EVIDENCE) : evidence.split(' ') };
  });

const reached = new Map<string, QuietDomain>();

function begin(state: string, evidence: string): QuietDomain {
  const start = reached.get(state) ?? new QuietDomain();
  if (!reached.has(state)) STATES[state]?.(start);
  reached.set(state, start);
  const domain = start.copy();
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

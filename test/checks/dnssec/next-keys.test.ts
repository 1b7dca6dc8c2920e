import { describe, expect, it } from 'vitest';
import { abort, disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import { nextStep } from '../../../src/checks/dnssec/next-keys.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const C = madeKey('c', 'csk', 13);
const E = madeKey('e', 'csk', 15);
const DAYS = 24;

/** Each state, reached by its usual way. */
const STATES: Readonly<Record<string, (domain: QuietDomain) => void>> = {
  off: (d) => d.run(2),
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
  unsigned: (d) => {
    STATES.removed?.(d);
    d.run(3 * DAYS);
  },
};

/** What the parent's two addresses show for the next three hours. */
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
  silent: () => [undefined, undefined],
};

const GOALS: Readonly<Record<string, (m: Machine) => Machine | string>> = {
  on: (m) => enable(m, m.keys.length > 0 ? [] : [A]),
  off: (m) => disable(m, false),
  roll: (m) => roll(m, [C], false),
  abort,
};

/** `state goal | evidence … | the steps of the next three hours, then what is waited for`, or why the goal is refused. */
const TABLE = `
off on          | same none b other silent            | sign > caches
off on          | a a,- ab                            | bring_back > caches
off off         | any                                 | rest
off roll        | any                                 | off
off abort       | any                                 | nothing
waiting on      | any                                 | caches
waiting off     | same none b other silent            | unsign > rest
waiting off     | a a,- ab                            | ds_unwanted a
waiting roll    | same none b other silent            | publish > change_signatures > withdraw > nodes
waiting roll    | a a,- ab                            | caches
waiting abort   | same none b other silent            | unsign > rest
waiting abort   | a a,- ab                            | ds_unwanted a
asked on        | same none a,- b other silent        | ds_wanted a
asked on        | a ab                                | rest
asked off       | same none b other                   | ask_none > stay a
asked off       | a a,- ab silent                     | ask_none > ds_unwanted a
asked roll      | any                                 | publish > caches
asked abort     | same none b other                   | ask_none > stay a
asked abort     | a a,- ab silent                     | ask_none > ds_unwanted a
secure on       | same a ab silent                    | rest
secure on       | none a,- b other                    | ds_wanted a
secure off      | same a a,- ab silent                | ask_none > ds_unwanted a
secure off      | none b other                        | ask_none > stay a
secure roll     | any                                 | publish > caches
secure abort    | any                                 | nothing
published on    | any                                 | caches
published off   | same a a,- silent                   | ask_none > ds_unwanted a
published off   | none other                          | ask_none > stay a
published off   | b                                   | ask_none > ds_unwanted b
published off   | ab                                  | ask_none > ds_unwanted ab
published roll  | any                                 | busy
published abort | same a silent                       | withdraw > rest
published abort | none a,- other                      | withdraw > ds_wanted a
published abort | b                                   | ds_wanted a
published abort | ab                                  | ds_unwanted b
swapped on      | same none a a,- other silent        | ds_wanted b
swapped on      | b                                   | stay a
swapped on      | ab                                  | ds_unwanted a
swapped off     | same a a,-                          | ask_none > ds_unwanted a
swapped off     | none other                          | ask_none > stay ab
swapped off     | b                                   | ask_none > ds_unwanted b
swapped off     | ab silent                           | ask_none > ds_unwanted ab
swapped roll    | any                                 | busy
swapped abort   | same a ab silent                    | change_signatures > ask > ds_unwanted b
swapped abort   | none a,- b other                    | change_signatures > ask > ds_wanted a
replaced on     | same b silent                       | withdraw > rest
replaced on     | none a a,- other                    | ds_wanted b
replaced on     | ab                                  | ds_unwanted a
replaced off    | same b silent                       | ask_none > ds_unwanted b
replaced off    | none other                          | ask_none > stay ab
replaced off    | a a,-                               | ask_none > ds_unwanted a
replaced off    | ab                                  | ask_none > ds_unwanted ab
replaced roll   | any                                 | busy
replaced abort  | same none a,- b other silent        | change_signatures > ask > ds_wanted a
replaced abort  | a ab                                | change_signatures > ask > ds_unwanted b
presigned on    | any                                 | caches
presigned off   | same a a,- ab silent                | ask_none > ds_unwanted a
presigned off   | none b other                        | ask_none > stay a
presigned roll  | any                                 | busy
presigned abort | same a ab silent                    | change_signatures > rest
presigned abort | none a,- b other                    | change_signatures > ds_wanted a
both on         | any                                 | ds_wanted e
both off        | same a a,- ab                       | ask_none > ds_unwanted a
both off        | none b other                        | ask_none > stay ae
both off        | silent                              | ask_none > ds_unwanted ae
both roll       | any                                 | busy
both abort      | same a ab                           | ask > stay e
both abort      | none a,- b other                    | ask > ds_wanted a
both abort      | silent                              | ask > ds_unwanted e
removing on     | same a ab silent                    | ask > rest
removing on     | none a,- b other                    | ask > ds_wanted a
removing off    | same a a,- ab silent                | ds_unwanted a
removing off    | none b other                        | stay a
removing roll   | any                                 | off
removing abort  | same a ab silent                    | ask > rest
removing abort  | none a,- b other                    | ask > ds_wanted a
removed on      | same none a,- b other silent        | ask > ds_wanted a
removed on      | a ab                                | ask > rest
removed off     | same none b other silent            | stay a
removed off     | a a,- ab                            | ds_unwanted a
removed roll    | any                                 | off
removed abort   | same none a,- b other silent        | ask > ds_wanted a
removed abort   | a ab                                | ask > rest
unsigned on     | same none b other silent            | sign > caches
unsigned on     | a a,- ab                            | bring_back > caches
unsigned off    | same none b other silent            | rest
unsigned off    | a a,- ab                            | bring_back > ds_unwanted a
unsigned roll   | any                                 | off
unsigned abort  | any                                 | nothing
`;

interface Line {
  readonly state: string;
  readonly goal: string;
  readonly evidence: string;
  readonly then: string;
}

const lines: readonly Line[] = TABLE.trim()
  .split('\n')
  .flatMap((row) => {
    const [from = '', evidence = '', then = ''] = row.split('|').map((cell) => cell.trim());
    const [state = '', goal = ''] = from.split(' ');
    const kinds = evidence === 'any' ? Object.keys(EVIDENCE) : evidence.split(' ');
    return kinds.map((kind) => ({ state, goal, evidence: kind, then }));
  });

function play({ state, goal, evidence }: Line): string {
  const domain = new QuietDomain();
  STATES[state]?.(domain);
  domain.shown = EVIDENCE[evidence]?.(domain) ?? [];
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
  it('has one line for every state, evidence and goal', () => {
    const all = Object.keys(STATES).flatMap((state) =>
      Object.keys(GOALS).flatMap((goal) =>
        Object.keys(EVIDENCE).map((evidence) => `${state} ${goal} ${evidence}`),
      ),
    );
    expect(lines.map(({ state, goal, evidence }) => `${state} ${goal} ${evidence}`).sort()).toEqual(
      all.sort(),
    );
  });

  it.each(lines)('$state, $goal, the parent shows $evidence: $then', (line) => {
    expect(play(line)).toBe(line.then);
  });
});

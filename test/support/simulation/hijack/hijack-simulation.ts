// Thousands of simulated names, one after the other, each for a thousand virtual days.

import { pick, type Random, randomFrom } from '../../random/random-zones.ts';
import { ABSENT, type Shown } from '../parent-evidence.ts';
import { HijackJudge, type Violation } from './hijack-judge.ts';
import { SimulatedName } from './simulated-name.ts';
import { delegation, ELSEWHERE, livesOf, Stranger } from './simulated-people.ts';
import { type FleetKind, SimulatedSets } from './simulated-sets.ts';
import { DECISIONS, type Decisions } from './simulated-store.ts';

export interface HijackOptions {
  readonly seed: number;
  readonly names: number;
  readonly fleet: FleetKind;
  readonly decide?: Partial<Decisions>;
  /** Exclusive sets are given to several accounts. */
  readonly sharesSets?: boolean;
  /** Ends with the first violation of these kinds. */
  readonly stopsAt?: readonly Violation[];
}

const STRANGERS = 400;
/** The share of names that strangers ask for all the time. */
const ASKED = 0.2;
/** Of these, where they do so for few names. */
const ALONE = 0.6;
/** How many of them claim a name. */
const CROWDS = [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 8, 8, 8, 8, 8, 10, 31] as const;

export function simulateHijacks({
  seed,
  names,
  fleet,
  decide,
  sharesSets,
  stopsAt,
}: HijackOptions): HijackJudge {
  const random = randomFrom(seed);
  const sets = new SimulatedSets(fleet, random, sharesSets);
  const judge = new HijackJudge();
  const isEnough = () => stopsAt !== undefined && judge.violations.some(({ kind }) => stopsAt.includes(kind));
  let accounts = STRANGERS;
  for (let i = 0; i < names; i++) {
    const own = randomFrom(seed * 7919 + i);
    const strangers = crowd(own);
    const name = new SimulatedName(i, own, {
      sets,
      judge,
      decide: { ...DECISIONS, ...decide },
      before: firstShown(own, sets, () => ++accounts),
      asked: own() >= ASKED ? 'never' : own() < ALONE ? 'alone' : 'among many',
      lie: () => lieOf(own, sets, strangers),
    });
    name.strangers = strangers.length;
    for (const accountId of strangers)
      new Stranger(name, accountId, 0, 2 + Math.floor(own() * 16), pick(own, [0.05, 0.2, 0.6]));
    livesOf(name, () => ++accounts);
    name.run(isEnough);
    if (isEnough()) break;
  }
  return judge;
}

function crowd(random: Random): number[] {
  const size = pick(random, CROWDS);
  const first = Math.floor(random() * STRANGERS);
  return Array.from({ length: size }, (_, i) => 1 + ((first + i) % STRANGERS));
}

/** Many names point here since long ago: to names that nobody has, or to the set of an account that is gone. */
function firstShown(random: Random, sets: SimulatedSets, newAccount: () => number): Shown {
  const dice = random();
  if (dice < 0.3) return ABSENT;
  if (dice < 0.5) return ELSEWHERE;
  return delegation(sets.isPool && dice < 0.7 ? sets.accountSet(newAccount()).names : sets.anySet());
}

/** One server says that there is nothing, that the name points to a set of ours, or to that of a stranger. */
function lieOf(random: Random, sets: SimulatedSets, strangers: readonly number[]): Shown {
  const stranger = strangers.length > 0 ? pick(random, strangers) : 1;
  const set = sets.isPool ? sets.accountSet(stranger).names : sets.anySet();
  return pick(random, [ABSENT, delegation(sets.anySet()), delegation(set)]);
}

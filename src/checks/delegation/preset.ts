// Whether a name was delegated to us before its owner created the domain (docs/rules.md "Preset delegation"). A shared
// set proves that the name points here, not who owns it. A change to a set that the first check did not see proves the
// owner.
//
//   undecided ─ none of our servers, or no other set to change to ──────────────────────────────▶ clear
//       └────── any of our servers ─▶ standing ─ exactly a set that is left, or gone, or approved ─▶ clear
//
// Only a confirmed judgement changes the state: one address that lags would clear a dangling name for any account that
// claims it.

import type { Name } from '../../dns/name.ts';
import type { Expected, NameserverSet, Preset } from './check-state.ts';
import type { Judgement } from './verdict.ts';

/** `expected.sets` may still contain the sets that a standing preset took. */
export function nextPreset(preset: Preset, judgement: Judgement, expected: Expected): Preset {
  switch (preset.kind) {
    case 'clear':
      return preset;
    case 'undecided':
      if (expected.sets.length <= 1) return { kind: 'clear' }; // without another set the owner cannot prove anything
      if (!judgement.confirmed || judgement.oursShown === undefined) return preset;
      if (!judgement.oursShown) return { kind: 'clear' };
      return { kind: 'standing', taken: setsWithAny(judgement.observed ?? [], expected) };
    case 'standing': {
      if (!judgement.confirmed) return preset;
      const left = judgement.verdict === 'match' && !isTaken(judgement.matched, preset);
      return left || judgement.oursShown === false ? { kind: 'clear' } : preset;
    }
    default:
      return preset satisfies never;
  }
}

/** The accepted sets that a standing preset leaves. */
export function setsLeft(preset: Preset, { sets }: Expected): readonly NameserverSet[] {
  return sets.filter((set) => !isTaken(set, preset));
}

function isTaken(set: NameserverSet | undefined, preset: Preset): boolean {
  if (preset.kind !== 'standing' || set === undefined) return false;
  return preset.taken.some(
    (taken) => taken.length === set.length && taken.every((name) => set.includes(name)),
  );
}

function setsWithAny(names: readonly Name[], { sets, allSets }: Expected): readonly NameserverSet[] {
  const concerned: NameserverSet[] = [];
  for (const set of [...sets, ...allSets])
    if (set.some((name) => names.includes(name)) && !isTaken(set, { kind: 'standing', taken: concerned }))
      concerned.push(set);
  return concerned;
}

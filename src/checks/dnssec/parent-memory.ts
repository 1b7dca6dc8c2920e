// State of the parent kept between observations: the DS set of each address, and since when all or none of them show the DS
// of a key.

import { type DsEvidence, dsText } from './ds-evidence.ts';
import { isSep, type KeyId, type MachineKey, ownersOf } from './machine-key.ts';
import type { MachineRules } from './rules.ts';

/** DS set of one address as sorted texts. Empty if it shows none. */
interface ShownDs {
  readonly ds: readonly string[];
  readonly ttl: number;
}

interface AddressMemory {
  /** Null if it never answered. */
  readonly shown: ShownDs | null;
  /** First unanswered query since the last answer. Null if the last query was answered. */
  readonly silentSince: number | null;
}

interface KeyRun {
  /** Since when every observation shows its DS at every address. Null if the last one does not. */
  readonly everywhereSince: number | null;
  /** Since when no observation shows its DS at any address. */
  readonly goneSince: number | null;
}

export interface ParentMemory {
  readonly addresses: Readonly<Record<string, AddressMemory>>;
  readonly runs: Readonly<Record<KeyId, KeyRun>>;
  /** When they were last queried. Null if never. */
  readonly askedAt: number | null;
  /** When enough addresses last answered. Null if never. */
  readonly observedAt: number | null;
  readonly isSecure: boolean | null;
}

export const NO_PARENT: ParentMemory = {
  addresses: {},
  runs: {},
  askedAt: null,
  observedAt: null,
  isSecure: null,
};

type Rules = Pick<MachineRules, 'silentAddressMs' | 'silentShare' | 'gapMs' | 'apartMs' | 'freshMs'>;

export function remembered(
  before: ParentMemory,
  { answers, parentIsSecure }: DsEvidence,
  keys: readonly MachineKey[],
  at: number,
  rules: Rules,
): ParentMemory {
  if (answers.length === 0) return before;
  const addresses: Record<string, AddressMemory> = {};
  for (const { address, outcome, ds, ttl } of answers) {
    const known = before.addresses[address];
    addresses[address] =
      outcome === 'unknown'
        ? { shown: known?.shown ?? null, silentSince: known?.silentSince ?? at }
        : { shown: { ds: ds.map(dsText).sort(), ttl: ttl ?? 0 }, silentSince: null };
  }
  const counting = countingOf(addresses, at, rules);
  const answered = answers.filter(({ outcome }) => outcome !== 'unknown').length;
  const isConclusive =
    answered >= counting.length * (1 - rules.silentShare) &&
    (answered >= 2 || (answered === 1 && counting.length === 1));
  const isUnseen = isGap(before, at, rules);
  const runs = Object.fromEntries(
    keys.filter(isSep).map((key) => {
      const run = isUnseen ? undefined : before.runs[key.id];
      return [key.id, nextRun(run, key, counting, isConclusive, at)];
    }),
  );
  return {
    addresses,
    runs,
    askedAt: at,
    observedAt: isConclusive ? at : before.observedAt,
    isSecure: parentIsSecure ?? before.isSecure,
  };
}

/** True if the last observation is so long ago that a DS may have appeared and disappeared since. */
export function isGap(
  { observedAt }: ParentMemory,
  at: number,
  { gapMs }: Pick<MachineRules, 'gapMs'>,
): boolean {
  return observedAt === null || at - observedAt > gapMs;
}

/**
 * A silent address counts with the last set that it showed. One that contradicts ends a run in any observation. An
 * undecided address never starts a run.
 */
function nextRun(
  before: KeyRun | undefined,
  key: MachineKey,
  counting: readonly AddressMemory[],
  isConclusive: boolean,
  at: number,
): KeyRun {
  const heard = counting.flatMap(({ shown }) => (shown === null ? [] : [shown]));
  const showing = heard.filter(({ ds }) => key.ds.some((text) => ds.includes(text))).length;
  const since = (isSo: boolean, from: number | null | undefined) => {
    if (!isSo) return null;
    return from ?? (isConclusive ? at : null);
  };
  return {
    everywhereSince: since(showing > 0 && showing === heard.length, before?.everywhereSince),
    goneSince: since(showing === 0, before?.goneSince),
  };
}

/** True if at least two observations, an hour or more apart, and all between them show the DS at every address. */
export function isEverywhere({ runs, observedAt }: ParentMemory, id: KeyId, { apartMs }: Rules): boolean {
  const since = runs[id]?.everywhereSince ?? null;
  return since !== null && observedAt !== null && observedAt - since >= apartMs;
}

/** True if at least two observations, an hour or more apart, and all between them show it at no address. */
export function isNowhere({ runs, observedAt }: ParentMemory, id: KeyId, { apartMs }: Rules): boolean {
  const since = runs[id]?.goneSince ?? null;
  return since !== null && observedAt !== null && observedAt - since >= apartMs;
}

/** Returns since when it is at no address. Returns null if it is at some address or was not observed. */
export function nowhereSince({ runs }: ParentMemory, id: KeyId): number | null {
  return runs[id]?.goneSince ?? null;
}

/** True if the last observation is recent enough for a step that removes data it does not show. */
export function isFresh({ observedAt }: ParentMemory, at: number, { freshMs }: Rules): boolean {
  return observedAt !== null && at - observedAt <= freshMs;
}

/** Returns the DS sets of all addresses that count, one entry per address. */
export function shownNow(
  { addresses, askedAt }: ParentMemory,
  rules: Pick<Rules, 'silentAddressMs'>,
): readonly ShownDs[] {
  if (askedAt === null) return [];
  return countingOf(addresses, askedAt, rules).flatMap(({ shown }) => (shown === null ? [] : [shown]));
}

function countingOf(
  addresses: ParentMemory['addresses'],
  askedAt: number,
  { silentAddressMs }: Pick<Rules, 'silentAddressMs'>,
): readonly AddressMemory[] {
  return Object.values(addresses).filter(
    ({ silentSince }) => silentSince === null || askedAt - silentSince < silentAddressMs,
  );
}

/** Returns our keys whose DS some address shows. */
export function keysShown(
  memory: ParentMemory,
  keys: readonly MachineKey[],
  rules: Pick<Rules, 'silentAddressMs'>,
): readonly KeyId[] {
  return ownersOf([...new Set(shownNow(memory, rules).flatMap(({ ds }) => ds))], keys);
}

/** Restarts all runs after a period whose length is unknown. */
export function forgetRuns(memory: ParentMemory, at: number): ParentMemory {
  const addresses = Object.entries(memory.addresses).map(([address, { shown, silentSince }]) => [
    address,
    { shown, silentSince: silentSince === null ? null : Math.min(silentSince, at) },
  ]);
  return { ...memory, addresses: Object.fromEntries(addresses), runs: {}, observedAt: null };
}

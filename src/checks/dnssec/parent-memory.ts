// What is remembered of the parent from one observation to the next: what each address showed, and since when all of them
// show the DS of a key, or none does.

import { type DsEvidence, dsText } from './ds-evidence.ts';
import { isSep, type KeyId, type MachineKey, ownersOf } from './machine-key.ts';
import type { MachineRules } from './rules.ts';

/** A DS set that an address shows, as sorted texts; empty: none. */
interface ShownDs {
  readonly ds: readonly string[];
  readonly ttl: number;
}

interface AddressMemory {
  /** Null: it never answered. */
  readonly shown: ShownDs | null;
  /** When it was asked first without an answer since; null: it answered the last time. */
  readonly silentSince: number | null;
}

interface KeyRun {
  /** Since when every observation shows its DS at every address; null: the last one does not. */
  readonly everywhereSince: number | null;
  /** Since when no observation shows its DS at any address. */
  readonly goneSince: number | null;
}

export interface ParentMemory {
  readonly addresses: Readonly<Record<string, AddressMemory>>;
  readonly runs: Readonly<Record<KeyId, KeyRun>>;
  /** When they were asked last; null: never. */
  readonly askedAt: number | null;
  /** When enough addresses answered last; null: never. */
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

/** Whether so long has passed since the last observation that a DS may have come and gone. */
export function isGap(
  { observedAt }: ParentMemory,
  at: number,
  { gapMs }: Pick<MachineRules, 'gapMs'>,
): boolean {
  return observedAt === null || at - observedAt > gapMs;
}

/**
 * A silent address speaks by what it showed last. One that shows otherwise ends a run in any observation; one that decides
 * nothing begins none.
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

/** Two observations, at least an hour apart, and all between them show the DS at every address. */
export function isEverywhere({ runs, observedAt }: ParentMemory, id: KeyId, { apartMs }: Rules): boolean {
  const since = runs[id]?.everywhereSince ?? null;
  return since !== null && observedAt !== null && observedAt - since >= apartMs;
}

/** Two observations, at least an hour apart, and all between them show it nowhere. */
export function isNowhere({ runs, observedAt }: ParentMemory, id: KeyId, { apartMs }: Rules): boolean {
  const since = runs[id]?.goneSince ?? null;
  return since !== null && observedAt !== null && observedAt - since >= apartMs;
}

/** Since when it is nowhere; null: it is somewhere, or nobody looked. */
export function nowhereSince({ runs }: ParentMemory, id: KeyId): number | null {
  return runs[id]?.goneSince ?? null;
}

/** Whether the last observation is new enough for a step that takes away what it does not show. */
export function isFresh({ observedAt }: ParentMemory, at: number, { freshMs }: Rules): boolean {
  return observedAt !== null && at - observedAt <= freshMs;
}

/** The DS sets of all addresses that count, each once for each address. */
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

/** The keys of ours that some address shows. */
export function keysShown(
  memory: ParentMemory,
  keys: readonly MachineKey[],
  rules: Pick<Rules, 'silentAddressMs'>,
): readonly KeyId[] {
  return ownersOf([...new Set(shownNow(memory, rules).flatMap(({ ds }) => ds))], keys);
}

/** After times that we cannot know, nothing counts as seen for long. */
export function forgetRuns(memory: ParentMemory, at: number): ParentMemory {
  const addresses = Object.entries(memory.addresses).map(([address, { shown, silentSince }]) => [
    address,
    { shown, silentSince: silentSince === null ? null : Math.min(silentSince, at) },
  ]);
  return { ...memory, addresses: Object.fromEntries(addresses), runs: {}, observedAt: null };
}

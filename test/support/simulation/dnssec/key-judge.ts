// Judges what really happened in a simulated domain, by the RFCs and its history alone: whether any cache may have held a DS
// set, a DNSKEY set and data at once that do not go together, and whose doing that was.

import { DAY, HOUR, type Span } from '../virtual-time.ts';
import type { Entered, KeyHistory } from './key-history.ts';
import { type Surroundings, valueAt } from './simulated-surroundings.ts';

export interface Bogus {
  readonly at: number;
  readonly ds: string;
  readonly keys: string;
  readonly data: string;
}

export interface JudgedDomain {
  /** Ours. */
  readonly violations: readonly Bogus[];
  /** The registrar's, or the owner's haste, by cause. */
  readonly excused: readonly string[];
}

interface Window<T> {
  readonly value: T;
  readonly from: number;
  readonly to: number;
}
interface KeySet {
  readonly keys: readonly string[];
  readonly signers: readonly string[];
  /** Of servers elsewhere: the span. */
  readonly elsewhere?: Span;
}
interface Data {
  readonly signers: readonly string[];
  readonly elsewhere?: Span;
}
interface ShownItem {
  readonly id: string;
  /** Undefined: the registrar did as it was told. */
  readonly excuse: string | undefined;
  /** It was asked for when it was entered. */
  readonly isAsked: boolean;
}

/** What is shown for less than this, or so near to the end of the stay, nobody can be sure to see: a lag of a day, two looks. */
const SURELY_SEEN = 2 * DAY + 2 * HOUR;
const STAY = 7 * DAY - DAY - 2 * HOUR;
/** Two checks of the delegation, and a step that is being written. */
const SURELY_MOVED = 1.5 * DAY;
/** An address that is silent speaks for a week by what it showed last. */
const SURELY_GONE = 9 * DAY;
const DNSKEY_TTL = 3600;

export function judgeKeys(history: KeyHistory, around: Surroundings, end: number): JudgedDomain {
  const dsWindows = shownWindows(history, around, end);
  const keyWindows = merged(keySetWindows(history, around));
  const dataWindows = merged(dataWindowsOf(history, around));
  const violations: Bogus[] = [];
  const excused = new Set<string>();
  const algorithmOf = (id: string) => history.keys.get(id)?.algorithm ?? 0;
  for (const ds of dsWindows) {
    if (ds.value.length === 0) {
      if (ds.isForeign) excused.add('only DS of others');
      continue;
    }
    for (const keySet of keyWindows) {
      const from = Math.max(ds.from, keySet.from);
      const to = Math.min(ds.to, keySet.to);
      if (from > to) continue;
      for (const data of dataWindows) {
        const at = Math.max(from, data.from);
        if (at > Math.min(to, data.to)) continue;
        const all = ds.value.map(({ id }) => id);
        const told = ds.value.filter(({ excuse }) => excuse === undefined);
        const toldIds = told.map(({ id }) => id);
        const ofOthers = keySet.value.elsewhere ?? data.value.elsewhere;
        const isWhole = (ids: readonly string[]) =>
          ids.length === 0 || goTogether(ids, keySet.value, data.value.signers, algorithmOf);
        if (!isWhole(toldIds)) {
          const isMoved =
            ofOthers !== undefined &&
            (!ds.isAsked || (ds.oursSince <= ofOthers.from && isBeforeTakenBack(ds.began, ofOthers, around)));
          if (isMoved) excused.add('moved to servers of others with a DS');
          else {
            const text = (value: unknown) => JSON.stringify(value);
            violations.push({ at, ds: text(toldIds), keys: text(keySet.value), data: text(data.value) });
          }
        } else if (!isWhole(all)) {
          for (const { excuse } of ds.value) if (excuse !== undefined) excused.add(excuse);
        }
      }
    }
  }
  return { violations, excused: [...excused] };
}

/**
 * Whoever moves while a DS is asked for, or stands, has nobody else to blame. What does not stand yet, though, is to be taken
 * back: the next check of the delegation sees the move, once workers work.
 */
function isBeforeTakenBack(at: number, { from }: Span, around: Surroundings): boolean {
  return at <= from + SURELY_MOVED + downtime(around, from, at);
}

function downtime({ workersDown }: Surroundings, from: number, to: number): number {
  const each = workersDown.map((span) => Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)));
  return each.reduce((a, b) => a + b, 0);
}

/** RFC 4035 §5.2 and §5.3.1, and §2.2 for the strictest: every algorithm of the DS and of the DNSKEY set counts. */
function goTogether(
  ds: readonly string[],
  { keys, signers }: KeySet,
  dataSigners: readonly string[],
  algorithmOf: (id: string) => number,
): boolean {
  const present = new Set(keys);
  const signing = signers.filter((id) => present.has(id));
  const chained = ds.filter((id) => signing.includes(id));
  if (chained.length === 0) return false;
  const byKeys = new Set(signing.map(algorithmOf));
  const byData = new Set(dataSigners.filter((id) => present.has(id)).map(algorithmOf));
  if (byData.size === 0) return false;
  for (const id of ds) if (!byKeys.has(algorithmOf(id))) return false;
  for (const id of keys) if (!byData.has(algorithmOf(id)) || !byKeys.has(algorithmOf(id))) return false;
  return true;
}

interface ShownWindow extends Window<readonly ShownItem[]> {
  readonly isForeign: boolean;
  /** Since when the registrar has any DS of ours without a break, and whether the first was asked for. */
  readonly began: number;
  readonly isAsked: boolean;
  /** Since when any of them was asked for without a break, or entered. */
  readonly oursSince: number;
}

function shownWindows(history: KeyHistory, around: Surroundings, end: number): ShownWindow[] {
  const { entered } = history;
  const known = new Map<string, ShownItem>();
  return entered.map((each, i) => {
    const next = entered[i + 1];
    const to = next === undefined ? end : Math.max(...next.shownFrom);
    const value = [...history.keys.values()]
      .filter((key) => key.ds.some((text) => each.ds.includes(text)))
      .map((key) => judgeItem(history, key.id, i, end, known));
    const first = firstOfOurs(history, around, i);
    const began = (entered[first] as Entered).at;
    return {
      value,
      isForeign: each.ds.length > 0,
      began,
      isAsked: [...history.keys.values()]
        .filter((key) => key.ds.some((text) => entered[first]?.ds.includes(text)))
        .some(({ id }) => judgeItem(history, id, first, end, known).isAsked),
      oursSince: oursSince(history, began),
      from: Math.min(...each.shownFrom),
      to: to + around.dsTtl * 1000,
    };
  });
}

/** The act since which the registrar has DS of ours, but for gaps in which nobody can be sure to see none. */
function firstOfOurs({ entered, keys }: KeyHistory, around: Surroundings, index: number): number {
  const ours = new Set([...keys.values()].flatMap(({ ds }) => ds));
  let first = index;
  for (let i = index - 1; i >= 0; i--) {
    if (!entered[i]?.ds.some((text) => ours.has(text))) continue;
    const goneAt = Math.max(...(entered[i + 1] as Entered).shownFrom);
    const { at } = entered[first] as Entered;
    if (at - goneAt > SURELY_GONE + downtime(around, goneAt, at)) break;
    first = i;
  }
  return first;
}

function oursSince({ disclosed, restored }: KeyHistory, began: number): number {
  let at = began;
  for (let i = disclosed.findLastIndex((each) => each.at <= at); i >= 0; i--) {
    const each = disclosed[i] as { at: number; keys: readonly string[] };
    if (each.keys.length > 0) {
      at = each.at;
      continue;
    }
    // a backup that comes back goes on asking for what it asked for
    const backup = restored.find((restore) => restore.at === each.at);
    if (backup === undefined) break;
    i = disclosed.findLastIndex((before) => before.at <= backup.backupAt) + 1;
  }
  return at;
}

/** Whether the registrar was told to show the DS when it entered it, or may yet have been late. */
function judgeItem(
  history: KeyHistory,
  id: string,
  index: number,
  end: number,
  known: Map<string, ShownItem>,
): ShownItem {
  const { entered } = history;
  const texts = history.keys.get(id)?.ds ?? [];
  let first = index;
  while (first > 0 && entered[first - 1]?.ds.some((text) => texts.includes(text))) first--;
  const key = `${id} ${first}`;
  const item = known.get(key) ?? judgePresence(history, id, first, end, known);
  known.set(key, item);
  return item;
}

/** `first`: the act that began to show it without a break. */
function judgePresence(
  history: KeyHistory,
  id: string,
  first: number,
  end: number,
  known: Map<string, ShownItem>,
): ShownItem {
  const { entered, disclosed, read } = history;
  const texts = history.keys.get(id)?.ds ?? [];
  const shows = (each: Entered | undefined) => each?.ds.some((text) => texts.includes(text)) === true;
  let last = first;
  while (last + 1 < entered.length && shows(entered[last + 1])) last++;
  const at = (entered[first] as Entered).at;
  if (read.some((each) => each.at === at && each.keys.includes(id)))
    return { id, excuse: undefined, isAsked: true };
  const asked = disclosed.findLastIndex((each) => each.at <= at && each.keys.includes(id));
  if (asked < 0) return { id, excuse: 'entered before it was asked for', isAsked: false };
  const unaskedAt = disclosed[asked + 1]?.at ?? Number.POSITIVE_INFINITY;
  if (at <= unaskedAt) return { id, excuse: undefined, isAsked: true };
  const isHasty = history.hasty.some((hasty) => hasty >= unaskedAt - 30 * DAY && hasty <= at);
  const goneAt = lastGone(history, id, shows, first, end, known);
  const ends = last + 1 < entered.length ? (entered[last + 1] as Entered).at : end;
  const isInTime = !isHasty && at <= Math.max(unaskedAt, goneAt) + STAY && ends - at >= SURELY_SEEN;
  return { id, excuse: isInTime ? undefined : 'came back after it was to be removed', isAsked: false };
}

/** When the last address stopped showing it after the registrar was told to show it; 0: it never did. */
function lastGone(
  history: KeyHistory,
  id: string,
  shows: (each: Entered | undefined) => boolean,
  before: number,
  end: number,
  known: Map<string, ShownItem>,
): number {
  const { entered } = history;
  for (let i = before - 1; i >= 0; i--) {
    if (!shows(entered[i])) continue;
    if (judgeItem(history, id, i, end, known).excuse === undefined)
      return Math.max(...(entered[i + 1] as Entered).shownFrom);
    while (i > 0 && shows(entered[i - 1])) i--;
  }
  return 0;
}

function keySetWindows(history: KeyHistory, around: Surroundings): Window<KeySet>[] {
  const ours = history.served.map(({ keys, keySigners, from, to }) => {
    const ttl = keys.length === 0 ? largestTtl(around, from, to) : DNSKEY_TTL;
    return { value: { keys, signers: keySigners }, from, to: to + ttl * 1000 };
  });
  return [
    ...ours,
    ...elsewhereWindows(around).map(({ span, from, to }) => ({
      value: { keys: [], signers: [], elsewhere: span },
      from,
      to,
    })),
  ];
}

function dataWindowsOf(history: KeyHistory, around: Surroundings): Window<Data>[] {
  const ours = history.served.map(({ dataSigners, from, to }) => ({
    value: { signers: dataSigners },
    from,
    to: to + largestTtl(around, from, to) * 1000,
  }));
  return [
    ...ours,
    ...elsewhereWindows(around).map(({ span, from, to }) => ({
      value: { signers: [], elsewhere: span },
      from,
      to,
    })),
  ];
}

/** Servers elsewhere are asked while any cache has their NS set; their answers have a TTL of a day at most. */
function elsewhereWindows({ elsewhere, nsTtl }: Surroundings): { span: Span; from: number; to: number }[] {
  return elsewhere.map((span) => ({ span, from: span.from, to: span.to + nsTtl * 1000 + DAY }));
}

function largestTtl({ dataTtls }: Surroundings, from: number, to: number): number {
  const during = dataTtls.filter(({ at }) => at > from && at <= to).map(({ ttl }) => ttl);
  return Math.max(valueAt(dataTtls, from).ttl, ...during);
}

/** One window for what several nodes served at the same time. */
function merged<T>(windows: readonly Window<T>[]): Window<T>[] {
  const byValue = new Map<string, Window<T>[]>();
  for (const window of [...windows].sort((a, b) => a.from - b.from)) {
    const key = JSON.stringify(window.value);
    const same = byValue.get(key) ?? [];
    const last = same.at(-1);
    if (last !== undefined && last.to >= window.from) {
      same[same.length - 1] = { ...last, to: Math.max(last.to, window.to) };
    } else same.push(window);
    byValue.set(key, same);
  }
  return [...byValue.values()].flat();
}

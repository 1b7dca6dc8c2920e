// Runs random and scripted simulated domains, and counts their outcomes.

import { advance } from '../../../../src/checks/dnssec/advance.ts';
import type { Machine } from '../../../../src/checks/dnssec/machine.ts';
import { RULES } from '../../../../src/checks/dnssec/rules.ts';
import { DAY, HOUR, MINUTE, type Span } from '../virtual-time.ts';
import type { Entered, KeyHistory, ServedSpan } from './key-history.ts';
import {
  type Actor,
  type MachineUnderTest,
  SimulatedSignedDomain,
  type Story,
} from './simulated-signed-domain.ts';
import {
  type SimulatedAddress,
  type SimulatedNode,
  type Surroundings,
  valueAt,
} from './simulated-surroundings.ts';

interface Bogus {
  readonly at: number;
  readonly ds: string;
  readonly keys: string;
  readonly data: string;
}

interface Window<T> {
  readonly value: T;
  readonly from: number;
  readonly to: number;
}
/** A DNSKEY set or data, and the keys that sign it. */
interface Signed {
  readonly keys: readonly string[];
  readonly signers: readonly string[];
  /** Time span, for servers of other operators. */
  readonly elsewhere?: Span;
}
interface Presence {
  /** True if the registrar followed the instructions. */
  readonly isTold: boolean;
  /** True if it was requested when it was entered. */
  readonly isAsked: boolean;
}

/**
 * DS records that are shown for less than this, or this close to the end of a stay, may be missed: a lag of a day, and two
 * examinations.
 */
const SURELY_SEEN = 2 * DAY + 2 * HOUR;
const STAY = 7 * DAY - DAY - 2 * HOUR;
/** Two delegation checks, and a step that is being written. */
const SURELY_MOVED = 1.5 * DAY;
/** A silent address counts for a week with its last answer. */
const SURELY_GONE = 9 * DAY;
const DNSKEY_TTL = 3600;

/** Returns data that was bogus because of us, not of the registrar or of the owner's haste. */
function judgeKeys(history: KeyHistory, around: Surroundings, end: number): Bogus[] {
  const keyWindows = signedWindows(history, around, ({ keys, keySigners, from, to }) => ({
    value: { keys, signers: keySigners },
    ttl: keys.length === 0 ? largestTtl(around, from, to) : DNSKEY_TTL,
  }));
  const dataWindows = signedWindows(history, around, ({ dataSigners, from, to }) => ({
    value: { keys: [], signers: dataSigners },
    ttl: largestTtl(around, from, to),
  }));
  const violations: Bogus[] = [];
  const algorithmOf = (id: string) => history.keys.get(id)?.algorithm ?? 0;
  for (const ds of shownWindows(history, around, end)) {
    if (ds.value.length === 0) continue;
    for (const keySet of keyWindows) {
      const from = Math.max(ds.from, keySet.from);
      const to = Math.min(ds.to, keySet.to);
      if (from > to) continue;
      for (const data of dataWindows) {
        const at = Math.max(from, data.from);
        if (at > Math.min(to, data.to)) continue;
        if (goTogether(ds.value, keySet.value, data.value.signers, algorithmOf)) continue;
        const ofOthers = keySet.value.elsewhere ?? data.value.elsewhere;
        const isMoved =
          ofOthers !== undefined &&
          (!ds.isAsked || (ds.oursSince <= ofOthers.from && isBeforeTakenBack(ds.began, ofOthers, around)));
        const [told, keys, signers] = [ds.value, keySet.value, data.value].map((each) =>
          JSON.stringify(each),
        );
        if (!isMoved) violations.push({ at, ds: `${told}`, keys: `${keys}`, data: `${signers}` });
      }
    }
  }
  return violations;
}

/**
 * An owner who moves while a DS is requested or exists is responsible for the result. A requested DS that is not entered
 * yet must be withdrawn, though: the next delegation check detects the move once workers run.
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
  { keys, signers }: Signed,
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

/** Keys whose DS the registrar should show. */
interface ShownWindow extends Window<readonly string[]> {
  /** Since when the registrar has had any DS of ours without interruption, and if the first was requested. */
  readonly began: number;
  readonly isAsked: boolean;
  /** Since when any of them was requested or entered without interruption. */
  readonly oursSince: number;
}

function shownWindows(history: KeyHistory, around: Surroundings, end: number): ShownWindow[] {
  const { entered } = history;
  const known = new Map<string, Presence>();
  const idsOf = ({ ds }: Entered) =>
    [...history.keys.values()].filter((key) => key.ds.some((text) => ds.includes(text))).map(({ id }) => id);
  return entered.map((each, i) => {
    const next = entered[i + 1];
    const to = next === undefined ? end : Math.max(...next.shownFrom);
    const first = firstOfOurs(history, around, i);
    const began = entered[first] as Entered;
    return {
      value: idsOf(each).filter((id) => judgeItem(history, id, i, end, known).isTold),
      began: began.at,
      isAsked: idsOf(began).some((id) => judgeItem(history, id, first, end, known).isAsked),
      oursSince: oursSince(history, began.at),
      from: Math.min(...each.shownFrom),
      to: to + around.dsTtl * 1000,
    };
  });
}

/** Returns the act since which the registrar has had a DS of ours, ignoring gaps that may be missed. */
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
    // a restored backup continues to request the same DS
    const backup = restored.find((restore) => restore.at === each.at);
    if (backup === undefined) break;
    i = disclosed.findLastIndex((before) => before.at <= backup.backupAt) + 1;
  }
  return at;
}

/** True if the registrar was told to show the DS when it entered it, or shortly before. */
function judgeItem(
  history: KeyHistory,
  id: string,
  index: number,
  end: number,
  known: Map<string, Presence>,
): Presence {
  const { entered } = history;
  const texts = history.keys.get(id)?.ds ?? [];
  let first = index;
  while (first > 0 && entered[first - 1]?.ds.some((text) => texts.includes(text))) first--;
  const key = `${id} ${first}`;
  const item = known.get(key) ?? judgePresence(history, id, first, end, known);
  known.set(key, item);
  return item;
}

/** `first`: the act that began to show it without interruption. */
function judgePresence(
  history: KeyHistory,
  id: string,
  first: number,
  end: number,
  known: Map<string, Presence>,
): Presence {
  const { entered, disclosed, read } = history;
  const texts = history.keys.get(id)?.ds ?? [];
  const shows = (each: Entered | undefined) => each?.ds.some((text) => texts.includes(text)) === true;
  let last = first;
  while (last + 1 < entered.length && shows(entered[last + 1])) last++;
  const at = (entered[first] as Entered).at;
  if (read.some((each) => each.at === at && each.keys.includes(id))) return { isTold: true, isAsked: true };
  const asked = disclosed.findLastIndex((each) => each.at <= at && each.keys.includes(id));
  if (asked < 0) return { isTold: false, isAsked: false };
  const unaskedAt = disclosed[asked + 1]?.at ?? Number.POSITIVE_INFINITY;
  if (at <= unaskedAt) return { isTold: true, isAsked: true };
  const isHasty = history.hasty.some((hasty) => hasty >= unaskedAt - 30 * DAY && hasty <= at);
  const goneAt = lastGone(history, id, shows, first, end, known);
  const ends = last + 1 < entered.length ? (entered[last + 1] as Entered).at : end;
  const isInTime = !isHasty && at <= Math.max(unaskedAt, goneAt) + STAY && ends - at >= SURELY_SEEN;
  return { isTold: isInTime, isAsked: false };
}

/** Returns when the last address stopped showing it after the registrar was told to show it. 0 if that never happened. */
function lastGone(
  history: KeyHistory,
  id: string,
  shows: (each: Entered | undefined) => boolean,
  before: number,
  end: number,
  known: Map<string, Presence>,
): number {
  const { entered } = history;
  for (let i = before - 1; i >= 0; i--) {
    if (!shows(entered[i])) continue;
    if (judgeItem(history, id, i, end, known).isTold)
      return Math.max(...(entered[i + 1] as Entered).shownFrom);
    while (i > 0 && shows(entered[i - 1])) i--;
  }
  return 0;
}

function signedWindows(
  { served }: KeyHistory,
  { elsewhere, nsTtl }: Surroundings,
  make: (span: ServedSpan) => { readonly value: Signed; readonly ttl: number },
): Window<Signed>[] {
  const ours = served.map((span) => {
    const { value, ttl } = make(span);
    return { value, from: span.from, to: span.to + ttl * 1000 };
  });
  // Other servers are queried while any cache has their NS set; their answers have a TTL of at most a day.
  const ofOthers = elsewhere.map((span) => ({
    value: { keys: [], signers: [], elsewhere: span },
    from: span.from,
    to: span.to + nsTtl * 1000 + DAY,
  }));
  return merged([...ours, ...ofOthers]);
}

function largestTtl({ dataTtls }: Surroundings, from: number, to: number): number {
  const during = dataTtls.filter(({ at }) => at > from && at <= to).map(({ ttl }) => ttl);
  return Math.max(valueAt(dataTtls, from).ttl, ...during);
}

/** Returns one window for data that several nodes served at the same time. */
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

const ADDRESS: SimulatedAddress = { lag: 0, isHidden: false, silent: [], lying: [] };
const HIDDEN: SimulatedAddress = { ...ADDRESS, lag: DAY, isHidden: true };
const NODE: SimulatedNode = {
  cutOff: [],
  lost: [],
  full: [],
  lag: MINUTE,
  broken: undefined,
  forgottenAt: Number.POSITIVE_INFINITY,
};

const QUIET: Surroundings = {
  registrar: 'scripted',
  addresses: [ADDRESS, ADDRESS],
  dsTtl: 3600,
  nsTtl: 3600,
  dataTtls: [{ at: 0, ttl: 2 * 86_400 }],
  nodes: [NODE, NODE, NODE],
  workersDown: [],
  clock: [{ at: 0, offset: 0 }],
  backupAfterMs: DAY,
  restores: [],
  restoreShare: 0,
  elsewhere: [],
  isHasty: false,
  goals: [],
  edits: [],
  isSplit: false,
};

const isReached = ({ waiting, goal, asked }: Machine) =>
  waiting === null && asked.length > 0 === (goal === 'signed');

const CONDITIONS: Readonly<Record<string, (machine: Machine) => boolean>> = {
  asked: ({ asked }) => asked.length > 0,
  reached: isReached,
  'asked anew': ({ asked, wanted }) => asked.length === 1 && asked[0] === wanted?.sep,
  'signed anew': ({ serving, wanted }) => serving.dataSigners.join() === wanted?.data,
};

const timeOf = (text: string) => Number.parseFloat(text) * { d: DAY, h: HOUR, m: MINUTE }[text.at(-1) as 'd'];

/**
 * Parses steps separated by commas. `enter` has the keys whose DS is entered, then when each address of the parent shows
 * it.
 */
function played(script: string): Story['play'] {
  return function* (actor) {
    let before: readonly string[] = [];
    for (const step of script.split(', ')) {
      const [verb, what = '', ...rest] = step.split(' ');
      const isReady = CONDITIONS[step];
      if (isReady !== undefined) yield isReady;
      else if (verb === 'wait') yield timeOf(what);
      else if (verb === 'until') yield timeOf(what) - actor.now;
      else if (verb === 'restore') actor.restore(timeOf(what));
      else if (verb === 'want') actor.want(step.slice('want '.length) as Parameters<Actor['want']>[0]);
      else {
        const { asked } = actor.machine;
        const keys = { none: [], asked, before, cds: what === 'cds' ? actor.readCds(1) : [] }[what];
        const digest = rest[0] === 'SHA-384' ? 4 : undefined;
        actor.enter(keys as readonly string[], digest === undefined ? rest.map(timeOf) : [], digest);
        if (what === 'asked') before = asked;
      }
    }
  };
}

const story = (name: string, days: number, around: Partial<Surroundings>, script: string): Story => {
  return { name, days, around: { ...QUIET, ...around }, play: played(script) };
};

const days = (from: number, to: number) => ({ from: from * DAY, to: to * DAY });
const SPLIT = { isSplit: true };
const FIVE_MINUTES = [{ at: 0, ttl: 300 }];

/** Enabled on the first day, with a registrar that follows requests. The story starts on day ten. */
const SECURED = 'want enable, asked, wait 10m, enter asked, until 10d';
/** The owner follows the API's instructions immediately. */
const FOLLOW = 'asked anew, wait 10m, enter asked';

const STORIES: readonly Story[] = [
  story(
    'both keys are rolled, then the zone is unsigned, and all goes well',
    80,
    SPLIT,
    `${SECURED}, want roll, ${FOLLOW}, reached, until 30d, want disable, wait 2d, enter none`,
  ),
  story(
    'a KSK is rolled, and no image of a node has room for it',
    40,
    { ...SPLIT, nodes: [NODE, { ...NODE, full: [days(10.5, 20)] }] },
    `${SECURED}, wait 1d, want roll, ${FOLLOW}`,
  ),
  story('a key of another algorithm replaces one', 50, {}, `${SECURED}, want algorithm, ${FOLLOW}`),
  story('a key is known to others', 40, { isHasty: true }, `${SECURED}, want compromised, ${FOLLOW}`),
  story(
    'TTLs fall just before a new ZSK signs',
    30,
    { ...SPLIT, dataTtls: [...QUIET.dataTtls, { at: 12.1 * DAY, ttl: 300 }] },
    `${SECURED}, wait 1d, want roll ZSK`,
  ),
  story(
    'the clock is two hours late while a ZSK signs, and two hours early afterwards',
    30,
    { ...SPLIT, clock: [0, 13].map((day) => ({ at: day * DAY, offset: (day === 0 ? -2 : 2) * HOUR })) },
    `${SECURED}, wait 1d, want roll ZSK`,
  ),
  story(
    'a backup undoes that a new ZSK signs, and its rollover is given up',
    40,
    SPLIT,
    `${SECURED}, want roll ZSK, signed anew, wait 12h, restore 20h, wait 1h, want abort`,
  ),
  story(
    'a backup undoes that a DS was asked for, and the owner disables',
    30,
    { backupAfterMs: HOUR, dataTtls: FIVE_MINUTES },
    'want enable, asked, wait 10m, enter asked 20h 20h, wait 20m, restore 50m, wait 0.25m, want disable',
  ),
  story(
    'the owner disables as soon as a DS that was long asked for is entered',
    30,
    {},
    'want enable, asked, wait 9d, enter asked 20h 20h, wait 1h, want disable',
  ),
  story(
    'the DS comes back at the end of the stay, and those addresses that show it do not answer',
    40,
    {
      addresses: Array.from({ length: 8 }, (_, i) =>
        i < 2 ? ADDRESS : { ...ADDRESS, silent: [days(17 + 19 / 24, 19)] },
      ),
    },
    `${SECURED}, want disable, wait 1d, enter none, wait 141h, enter before 30h 30h 23h 23h 23h 23h 23h 23h`,
  ),
  story(
    'the DS comes and goes again while workers are down',
    60,
    { dsTtl: 10 * 86_400, workersDown: [days(12, 18.2)] },
    `${SECURED}, want disable, wait 1d, enter none, wait 1.1d, enter before, wait 5.5d, enter none`,
  ),
  story(
    'one address denies the DS for twelve days, and the other is silent for ten',
    40,
    {
      addresses: [
        { ...ADDRESS, lying: [days(10, 22)] },
        { ...ADDRESS, silent: [days(10, 20)] },
      ],
    },
    `${SECURED}, want disable`,
  ),
  story(
    'resolvers keep a DS for ten days, which a hidden server shows for one more',
    60,
    { dsTtl: 10 * 86_400, addresses: [ADDRESS, ADDRESS, HIDDEN] },
    `${SECURED}, want disable, wait 1d, enter none 0d 0d 1d`,
  ),
  story(
    'the registrar enters a SHA-384 digest alone',
    40,
    {},
    'want enable, asked, wait 1h, enter asked SHA-384, until 10d, want disable',
  ),
  story(
    'a node sends signatures that do not verify',
    30,
    { nodes: [NODE, { ...NODE, broken: days(0, 3) }] },
    SECURED,
  ),
  story(
    'the domain comes from servers of others',
    30,
    { elsewhere: [days(-1000, 3)], nsTtl: 86_400, dataTtls: FIVE_MINUTES },
    SECURED,
  ),
  story(
    'the owner moves away before the DS is entered',
    40,
    { elsewhere: [days(5, 30)] },
    'want enable, wait 8d, enter asked',
  ),
  story(
    'a registry reads CDS from a node that is cut off',
    60,
    { nodes: [NODE, { ...NODE, cutOff: [days(12, 28)] }] },
    `${SECURED}, until 12.1d, want disable, wait 1h, enter none, until 27.9d, enter cds 20h 20h`,
  ),
];

export const REAL: MachineUnderTest = { rules: RULES, advance };

interface KeyTally {
  readonly violations: string[];
  readonly unreached: string[];
  reached: number;
}

export function simulateKeys(seed: number, domains: number, tested: MachineUnderTest): KeyTally {
  const tally: KeyTally = { violations: [], unreached: [], reached: 0 };
  for (let i = 0; i < domains && tally.violations.length < 10; i++) {
    const domain = new SimulatedSignedDomain(seed * 100_003 + i, tested);
    const { registrar } = domain.around;
    tally.violations.push(...runToEnd(domain, `domain ${i} (${registrar})`));
    if (domain.isReached) tally.reached++;
    else if (registrar !== 'never')
      tally.unreached.push(`domain ${i} (${registrar}): ${JSON.stringify(domain.machine.waiting)}`);
  }
  return tally;
}

export function playStories(tested: MachineUnderTest): string[] {
  return STORIES.flatMap((story) => runToEnd(new SimulatedSignedDomain(1, tested, story), story.name));
}

function runToEnd(domain: SimulatedSignedDomain, what: string): string[] {
  domain.run();
  const [first] = judgeKeys(domain.history, domain.around, domain.end);
  if (first === undefined) return [];
  const { at, ds, keys, data } = first;
  return [`${what}, day ${(at / 86_400_000).toFixed(2)}: ${ds} ${keys} ${data}`];
}

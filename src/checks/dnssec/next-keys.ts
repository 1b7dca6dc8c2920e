// Finds the one next step to the goal, from wherever the machine is. There is no plan to follow or to give up: every step is
// allowed only if each triple that may be seen after it validates, and so are the steps of a change of mind.

import { allValidate, dsGoneAt, maySee, type Seeable, servedGoneAt, validates } from './ledger.ts';
import {
  askedIds,
  foreignKeys,
  keyOf,
  type Machine,
  ownIds,
  ownKeys,
  publishedIds,
  type WaitCause,
  wantedIds,
} from './machine.ts';
import { isSep, type KeyId, ownersOf } from './machine-key.ts';
import { isEverywhere, isFresh, isNowhere, keysShown, nowhereSince, shownNow } from './parent-memory.ts';
import { DAY_MS, type MachineRules } from './rules.ts';
import { isSameServing, isSameSet, isSigned, type Serving, UNSIGNED, union, without } from './serving.ts';

export type StepKind =
  | 'sign'
  /** The parent shows the DS of a key that was withdrawn. */
  | 'bring_back'
  /** Signatures of another algorithm, before its key is published (RFC 6781 §4.1.4). */
  | 'add_signatures'
  | 'publish'
  | 'change_signatures'
  | 'ask'
  | 'ask_none'
  | 'withdraw'
  | 'unsign';

export interface Step {
  readonly kind: StepKind;
  readonly serving: Serving;
  /** The keys whose DS is disclosed from then on. */
  readonly asked: readonly KeyId[];
  /** True if later steps need not wait for earlier answers, since these do not validate with the DS that is at the parent. */
  readonly isNewStart?: boolean;
}

export type Next =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'wait';
      readonly cause: WaitCause;
      readonly keys: readonly KeyId[];
      readonly until?: number;
    }
  /** The goal is reached. */
  | { readonly kind: 'rest' };

/** Which servers the parent names for the domain, by its conclusive checks. */
export type Delegation =
  | {
      readonly kind: 'ours';
      /** Since when every conclusive check shows exactly our set. */
      readonly since: number;
      /** TTL of the NS set at the parent, in seconds. */
      readonly ttl: number;
      /** The checks before showed no delegation from the domain's first day here: nobody asks servers of before. */
      readonly isFirst: boolean;
    }
  | {
      readonly kind: 'not_ours';
      /** Since when no conclusive check shows any server of ours; absent: the last one does. */
      readonly elsewhereSince?: number;
    };

/** The waits that hold for the goal: haste leaves out what only guards against others' mistakes and ours. */
export function rulesFor({ urgent }: Pick<Machine, 'urgent'>, rules: MachineRules): MachineRules {
  return urgent ? { ...rules, backupAfterMs: 0, stayMs: 0 } : rules;
}

export function nextStep(machine: Machine, delegation: Delegation, at: number, usual: MachineRules): Next {
  const rules = rulesFor(machine, usual);
  if (machine.version === null) return waitFor('writing');
  const imported = takeOver(machine, rules);
  if (imported !== undefined) return imported;
  const back = bringBack(machine, at, rules);
  if (back !== undefined) return back;
  if (isAskedInVain(machine, delegation, at, rules)) return askForNone(machine);
  if (machine.servedAt === null) return waitFor('nodes');
  if (machine.hold !== null) return waitFor(machine.hold.cause, [], machine.hold.until ?? undefined);
  if (hasStrangers(machine)) return waitFor('strangers');
  return machine.goal === 'unsigned'
    ? towardsUnsigned(machine, delegation, at, rules)
    : towardsSigned(machine, delegation, at, rules);
}

function hasStrangers({ preflight, servedAt }: Machine): boolean {
  return preflight?.hasStrangers === true && servedAt !== null && preflight.at >= servedAt;
}

/**
 * Serves all keys of an import in one step, in place of the keys that were there: no resolver can reach the zone by a DS of
 * another key. Answers that another operator has signed with the same keys validate with what we serve then, and the
 * reverse (RFC 6781 §4.3.5.1).
 */
function takeOver(machine: Machine, rules: MachineRules): Next | undefined {
  const { goal, serving, asked, atLarge, parent } = machine;
  if (goal !== 'signed' || machine.wanted === null) return undefined;
  const keys = wantedIds(machine).map((id) => keyOf(machine, id));
  if (keys.some(({ id, shared }) => shared === undefined || serving.keys.includes(id))) return undefined;
  if (without(ownIds(machine, union(asked, atLarge)), wantedIds(machine)).length > 0) return undefined;
  const { sep, data } = machine.wanted;
  const to = { keys: publishedIds(machine), keySigners: [sep], dataSigners: [data] };
  const isAtParent = keysShown(parent, [keyOf(machine, sep)], rules).length > 0;
  const wanted = isAtParent ? askedIds(machine) : [];
  return { kind: 'step', step: { kind: 'sign', serving: to, asked: wanted, isNewStart: isAtParent } };
}

/** Others serve the domain meanwhile, without our signatures, and no DS of ours is there yet: it must not come now. */
function isAskedInVain(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): boolean {
  const { asked, parent, wanted } = machine;
  if (delegation.kind === 'ours' || asked.length === 0) return false;
  if (keysShown(parent, ownKeys(machine), rules).length > 0) return false;
  return wanted === null || untilAsked(machine, delegation, at, rules) !== undefined;
}

/** It takes nothing from any cache, so it waits for nothing. */
function askForNone({ serving }: Machine): Next {
  return { kind: 'step', step: { kind: 'ask_none', serving, asked: [] } };
}

function towardsUnsigned(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): Next {
  const { asked, serving } = machine;
  // resolvers that come by a DS of theirs want our signatures for as long as they ask us
  const theirs = isLeft(delegation, at, rules) ? foreignKeys(machine).map(({ id }) => id) : [];
  const atLarge = without(machine.atLarge, theirs);
  if (asked.length > 0) return askForNone(machine);
  if (!isSigned(serving)) return { kind: 'rest' };
  return (
    untilGone(machine, atLarge, at, rules) ??
    ifAllowed(machine, { kind: 'unsign', serving: UNSIGNED, asked: [] }, atLarge, at, rules)
  );
}

/** Nobody asks our servers any more. */
function isLeft(delegation: Delegation, at: number, rules: MachineRules): boolean {
  if (delegation.kind === 'ours' || delegation.elsewhereSince === undefined) return false;
  return at >= delegation.elsewhereSince + LONGEST_NS_MS + rules.oldServersMs;
}

/** Two days, as zones of note have for NS sets. */
const LONGEST_NS_MS = 2 * DAY_MS;

/** The moves in their order (RFC 6781 §4.1.2, §4.1.4): the first that has anything to do decides. */
function towardsSigned(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): Next {
  const { serving, asked, wanted } = machine;
  if (wanted === null) return { kind: 'rest' };
  const take = (kind: StepKind, to: Serving) =>
    ifAllowed(machine, { kind, serving: to, asked }, [], at, rules);
  const ids = publishedIds(machine);
  if (!isSigned(serving)) {
    return take('sign', { keys: ids, keySigners: [wanted.sep], dataSigners: [wanted.data] });
  }
  if (isFailing(machine)) return waitFor('preflight');
  const algorithm = (id: KeyId) => keyOf(machine, id).algorithm;
  // signatures of a key that is withdrawn already are of no use to a new one
  const useful = serving.dataSigners.filter((id) => id === wanted.data || serving.keys.includes(id));
  if (!useful.some((id) => algorithm(id) === algorithm(wanted.data)))
    return take('add_signatures', { ...serving, dataSigners: union(serving.dataSigners, [wanted.data]) });
  const published = {
    keys: union(serving.keys, ids),
    keySigners: union(serving.keySigners, [wanted.sep]),
    dataSigners: serving.dataSigners,
  };
  if (!isSameServing(published, serving)) return take('publish', published);
  // signatures of another algorithm stay for as long as one of its keys stands (RFC 4035 §2.2)
  const others = serving.dataSigners.filter(
    (id) => algorithm(id) !== algorithm(wanted.data) && serving.keys.includes(id),
  );
  const dataSigners = union([wanted.data], others);
  if (!isSameSet(dataSigners, serving.dataSigners))
    return take('change_signatures', { ...serving, dataSigners });
  const ask = isSameSet(asked, askedIds(machine)) ? undefined : askFor(machine, delegation, at, rules);
  if (ask?.kind === 'step') return ask;
  const less = withdraw(machine, at, rules);
  return less?.kind === 'step' ? less : (ask ?? less ?? untilEverywhere(machine, rules));
}

/** After our last step, an answer of the domain's servers did not verify. */
function isFailing({ preflight, servedAt }: Machine): boolean {
  return (
    preflight !== null && preflight.failure !== undefined && servedAt !== null && preflight.at >= servedAt
  );
}

/** Discloses the DS of the wanted key, those of another operator beside it, and no others. */
function askFor(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): Next {
  const { serving, wanted, preflight, servedAt, failedAt, ledger } = machine;
  const { sep } = wanted as NonNullable<typeof wanted>;
  const step: Step = { kind: 'ask', serving, asked: askedIds(machine) };
  // beside a DS of ours another one breaks nothing, nor does one less that is another operator's
  if (machine.asked.includes(sep) && without(ownIds(machine, machine.asked), [sep]).length === 0)
    return { kind: 'step', step };
  if (keysShown(machine.parent, ownKeys(machine), rules).length === 0) {
    const wait = untilAsked(machine, delegation, at, rules);
    if (wait !== undefined) return wait;
  }
  const allowed = ifAllowed(machine, step, [], at, rules);
  if (allowed.kind === 'wait') return allowed;
  if (failedAt !== null) {
    const ttl = Math.max(...[...ledger.keySets, ...ledger.data].map((version) => version.ttl));
    const from = failedAt + ttl * 1000 + rules.nodeSlackMs;
    if (at < from) return waitFor(isFailing(machine) ? 'preflight' : 'caches', [sep], from);
  }
  const isVerified =
    preflight !== null &&
    preflight.failure === undefined &&
    preflight.at >= (servedAt as number) &&
    at - preflight.at <= rules.freshMs &&
    preflight.verifiedBy.includes(sep);
  return isVerified ? allowed : waitFor('preflight', [sep]);
}

/**
 * Until our servers, or others whose answers go with ours, are the only ones that resolvers ask; undefined: they are. Where the
 * parent shows a DS of the other operator, ours has to stand beside it before the nameservers change; and theirs have to show
 * our keys before that.
 */
function untilAsked(
  { foreign, parent, keys, wanted }: Machine,
  delegation: Delegation,
  at: number,
  rules: MachineRules,
): Next | undefined {
  const { sep, data } = wanted as NonNullable<typeof wanted>;
  const theirs = keys.filter(({ id }) => foreign?.wanted.includes(id));
  const isMoving = keysShown(parent, theirs, rules).length > 0;
  if (delegation.kind === 'ours') {
    const from = delegation.since + delegation.ttl * 1000 + rules.oldServersMs;
    return delegation.isFirst || isMoving || at >= from ? undefined : waitFor('delegation', [sep], from);
  }
  if (!isMoving) return waitFor('delegation', [sep]);
  const shows = foreign?.shows ?? null;
  if (shows === null || ![sep, data].every((id) => shows.keys.includes(id)))
    return waitFor('foreign', [sep, data]);
  const from = shows.since + shows.ttl * 1000 + rules.nodeSlackMs;
  return at < from ? waitFor('foreign', [sep, data], from) : undefined;
}

/** Takes away what is not wanted and not needed; undefined: there is nothing. */
function withdraw(machine: Machine, at: number, rules: MachineRules): Next | undefined {
  const { serving, asked, wanted, atLarge, parent } = machine;
  const leaving = without(serving.keys, publishedIds(machine));
  if (leaving.length === 0) return undefined;
  const { sep } = wanted as NonNullable<typeof wanted>;
  const needed = leaving.filter((id) => atLarge.includes(id));
  const isReplaced = isSameSet(asked, askedIds(machine)) && isEverywhere(parent, sep, rules);
  const stays = needed.filter((id) => !isReplaced || untilGone(machine, [id], at, rules) !== undefined);
  const free = without(leaving, stays);
  const rest = without(serving.keys, free).map((id) => keyOf(machine, id).algorithm);
  const going = free.filter(
    (id) => !serving.dataSigners.includes(id) || !rest.includes(keyOf(machine, id).algorithm),
  );
  if (going.length > 0) {
    const to = {
      keys: without(serving.keys, going),
      keySigners: without(serving.keySigners, going),
      dataSigners: serving.dataSigners,
    };
    return ifAllowed(machine, { kind: 'withdraw', serving: to, asked }, going, at, rules);
  }
  if (!isSameSet(asked, askedIds(machine))) return undefined;
  return isReplaced ? untilGone(machine, stays, at, rules) : waitFor('ds_wanted', [sep]);
}

function untilEverywhere({ parent, asked }: Machine, rules: MachineRules): Next {
  const missing = asked.filter((id) => !isEverywhere(parent, id, rules));
  return missing.length > 0 ? waitFor('ds_wanted', missing) : { kind: 'rest' };
}

/**
 * Until none of the keys has a DS, and none has had for the stay; undefined: so it is. A node that was cut off may have told a
 * registry to show it: the stay begins when none does any more.
 */
function untilGone(
  { parent, toldAt }: Machine,
  ids: readonly KeyId[],
  at: number,
  rules: MachineRules,
): Next | undefined {
  const shown = ids.filter((id) => !isNowhere(parent, id, rules));
  if (shown.length > 0) return waitFor('ds_unwanted', shown);
  const ends = ids.map((id) => Math.max(nowhereSince(parent, id) ?? at, toldAt ?? at) + rules.stayMs);
  const until = Math.max(...ends);
  if (ids.length > 0 && at < until) return waitFor('stay', ids, until);
  return ids.length === 0 || isFresh(parent, at, rules) ? undefined : waitFor('observation', ids);
}

/**
 * Serves again the keys whose DS an address of the parent shows. Without them that DS leads nowhere already, so this breaks
 * nothing, unless their algorithm is another: then resolvers that see a good DS want its signatures first.
 */
function bringBack(machine: Machine, at: number, rules: MachineRules): Next | undefined {
  const { serving, keys, asked, parent } = machine;
  const algorithmOf = (id: KeyId) => keyOf(machine, id).algorithm;
  const isWhole = (ds: readonly KeyId[]) => validates({ ds, ...serving }, algorithmOf);
  const lost = shownNow(parent, rules)
    .map(({ ds }) => ownersOf(ds, ownKeys(machine)))
    .find((ours) => !isWhole(ours));
  if (lost === undefined) return undefined;
  // after a restore, caches may hold data without the signatures of that algorithm, which the ledger does not know
  const isOfOthers = lost.some((id) => !serving.keys.some((key) => algorithmOf(key) === algorithmOf(id)));
  if (machine.hold !== null && isSigned(serving) && isOfOthers) return undefined;
  const missing = lost.filter(
    (id) => !serving.dataSigners.some((signer) => algorithmOf(signer) === algorithmOf(id)),
  );
  const signed = { ...serving, dataSigners: union(serving.dataSigners, missing) };
  const back = {
    keys: union(serving.keys, lost),
    keySigners: union(serving.keySigners, lost),
    dataSigners: signed.dataSigners,
  };
  for (const to of [back, signed]) {
    const step: Step = { kind: 'bring_back', serving: to, asked };
    const seen = seenAfter(machine, step, [], at, rules);
    const isSafe = allValidate({ ...seen, ds: seen.ds.filter(isWhole) }, keys);
    if (isSafe && !isSameServing(to, serving)) return { kind: 'step', step };
  }
  return undefined;
}

/** The step, or how long caches and backups forbid it. `going`: keys whose DS is past. */
function ifAllowed(
  machine: Machine,
  step: Step,
  going: readonly KeyId[],
  at: number,
  rules: MachineRules,
): Next {
  const isAllowed = (time: number) => allValidate(seenAfter(machine, step, going, time, rules), machine.keys);
  if (isAllowed(at)) return { kind: 'step', step };
  const { ds, keySets, data } = machine.ledger;
  const ends = [
    ...ds.map((version) => dsGoneAt(version, rules)),
    ...[...keySets, ...data].map((version) => servedGoneAt(version, rules)),
  ];
  const until = ends
    .filter((end) => end >= at && Number.isFinite(end))
    .sort((a, b) => a - b)
    .find((end) => isAllowed(end + 1));
  return waitFor('caches', [], until === undefined ? undefined : until + 1);
}

/** What may be seen after the step: what may be seen now, what it adds, and the DS that the registrar may enter at any time. */
function seenAfter(
  machine: Machine,
  { serving, asked }: Step,
  going: readonly KeyId[],
  at: number,
  rules: MachineRules,
): Seeable {
  const { ledger, parent } = machine;
  const own = ownKeys(machine);
  const shown = shownNow(parent, rules).map(({ ds }) => ownersOf(ds, own));
  const atLarge = ownIds(machine, machine.atLarge);
  const now = maySee(ledger, shown, at, rules);
  const served = union(machine.serving.keys, serving.keys);
  const enterable = union(without(atLarge, going), ownIds(machine, asked)).filter((id) =>
    served.includes(id),
  );
  return {
    ds: [...now.ds, ...enterable.map((id) => [id])],
    keySets: [...now.keySets, { keys: serving.keys, signers: serving.keySigners }],
    data: [...now.data, { signers: serving.dataSigners }],
  };
}

function waitFor(cause: WaitCause, keys: readonly KeyId[] = [], until?: number): Next {
  return { kind: 'wait', cause, keys, ...(until === undefined ? {} : { until }) };
}

/** The keys of ours in the DNSKEY set that may have a DS. */
export function sepKeys(machine: Pick<Machine, 'keys' | 'serving'>): readonly KeyId[] {
  return ownKeys(machine)
    .filter((key) => isSep(key) && machine.serving.keys.includes(key.id))
    .map(({ id }) => id);
}

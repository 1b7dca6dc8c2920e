// Finds the next step to the goal from any state of the machine. No plan is stored: a step is allowed only if every triple
// that may be seen after it validates. The same applies after the goal has changed.

import { allValidate, validates } from './ledger.ts';
import {
  askedIds,
  foreignKeys,
  keyOf,
  type Machine,
  ownIds,
  ownKeys,
  publishedIds,
  wantedIds,
} from './machine.ts';
import { type KeyId, ownersOf } from './machine-key.ts';
import { keysShown, shownNow } from './parent-memory.ts';
import { DAY_MS, type MachineRules } from './rules.ts';
import { isSameServing, isSigned, UNSIGNED, union, without } from './serving.ts';
import { type Delegation, type Next, type Step, waitFor } from './step.ts';
import { ifAllowed, seenAfter, untilAsked, untilGone } from './step-waits.ts';
import { towardsSigned } from './towards-signed.ts';

/** Returns the waits that apply. An urgent change skips those that only guard against operator mistakes. */
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
 * Serves all keys of an import in one step, in place of the previous keys: no resolver can reach the zone by a DS of
 * another key. Answers that another operator signed with the same keys validate with those of the fleet, and vice versa
 * (RFC 6781 §4.3.5.1).
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

/**
 * True if another operator serves the domain without the fleet's signatures, and the parent has no DS of the fleet yet. The
 * DS must not be entered now.
 */
function isAskedInVain(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): boolean {
  const { asked, parent, wanted } = machine;
  if (delegation.kind === 'ours' || asked.length === 0) return false;
  if (keysShown(parent, ownKeys(machine), rules).length > 0) return false;
  return wanted === null || untilAsked(machine, delegation, at, rules) !== undefined;
}

/** Withdraws every DS request. This invalidates no cached data, so it need not wait. */
function askForNone({ serving }: Machine): Next {
  return { kind: 'step', step: { kind: 'ask_none', serving, asked: [] } };
}

function towardsUnsigned(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): Next {
  const { asked, serving } = machine;
  // resolvers that follow a DS of the other operator need our signatures for as long as they query our servers
  const theirs = isLeft(delegation, at, rules) ? foreignKeys(machine).map(({ id }) => id) : [];
  const atLarge = without(machine.atLarge, theirs);
  if (asked.length > 0) return askForNone(machine);
  if (!isSigned(serving)) return { kind: 'rest' };
  return (
    untilGone(machine, atLarge, at, rules) ??
    ifAllowed(machine, { kind: 'unsign', serving: UNSIGNED, asked: [] }, atLarge, at, rules)
  );
}

/** True if no resolver queries the fleet's servers any longer. */
function isLeft(delegation: Delegation, at: number, rules: MachineRules): boolean {
  if (delegation.kind === 'ours' || delegation.elsewhereSince === undefined) return false;
  return at >= delegation.elsewhereSince + LONGEST_NS_MS + rules.oldServersMs;
}

/** Two days, which large TLDs use for NS sets. */
const LONGEST_NS_MS = 2 * DAY_MS;

/**
 * Serves the keys again whose DS an address of the parent shows. That DS does not validate without them, so this breaks
 * nothing unless their algorithm differs. In that case, resolvers that see a valid DS need the signatures first.
 */
function bringBack(machine: Machine, at: number, rules: MachineRules): Next | undefined {
  const { serving, keys, asked, parent } = machine;
  const algorithmOf = (id: KeyId) => keyOf(machine, id).algorithm;
  const isWhole = (ds: readonly KeyId[]) => validates({ ds, ...serving }, algorithmOf);
  const lost = shownNow(parent, rules)
    .map(({ ds }) => ownersOf(ds, ownKeys(machine)))
    .find((ours) => !isWhole(ours));
  if (lost === undefined) return undefined;
  // after a restore, caches may hold data without signatures of that algorithm, unknown to the ledger
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

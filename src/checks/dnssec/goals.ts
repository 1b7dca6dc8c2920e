// What owners and operators may ask of the machine. A goal only says what shall be: the planner goes on from where it is.

import { firstLedger } from './keep-ledger.ts';
import { type Machine, NO_FOREIGN_KEYS, ownIds, ownKeys, type WantedKeys, wantedIds } from './machine.ts';
import { isSep, type KeyId, type MachineKey } from './machine-key.ts';
import { keysShown, NO_PARENT } from './parent-memory.ts';
import type { MachineRules } from './rules.ts';
import { isSigned, UNSIGNED, union, without } from './serving.ts';

type Refusal =
  /** The last goal is not reached. */
  | 'busy'
  /** The zone is not signed, and not about to be. */
  | 'off'
  /** There is nothing to give up. */
  | 'nothing';

/** Of a zone that is unsigned since it exists. `dataTtl`: its largest TTL in seconds. */
export function newMachine(at: number, dataTtl: number): Machine {
  return {
    format: 1,
    goal: 'unsigned',
    urgent: false,
    wanted: null,
    before: null,
    keys: [],
    serving: UNSIGNED,
    version: 0,
    servedAt: null,
    asked: [],
    askedAt: null,
    toldAt: null,
    atLarge: [],
    ledger: firstLedger(at, dataTtl),
    parent: NO_PARENT,
    preflight: null,
    failedAt: null,
    hold: null,
    epoch: null,
    clock: at,
    waiting: null,
  };
}

/** Whether keys must be made for it: a zone that was signed before takes its own again. */
export function needsKeys({ wanted, keys }: Machine): boolean {
  return wanted === null || ![wanted.sep, wanted.data].every((id) => keys.some((key) => key.id === id));
}

/** `made`: new keys, where `needsKeys`; else none. */
export function enable(machine: Machine, made: readonly MachineKey[]): Machine {
  if (machine.goal === 'signed') return machine;
  const wanted = made.length > 0 ? (wantedOf(made) as WantedKeys) : machine.wanted;
  if (wanted === null) throw new Error('a zone is not signed without keys');
  return withGoal({ ...machine, keys: [...machine.keys, ...made] }, 'signed', wanted, false);
}

/** `now`: without the stay. */
export function disable(machine: Machine, now: boolean): Machine {
  if (machine.goal === 'unsigned') return now ? { ...machine, urgent: true } : machine;
  return withGoal(machine, 'unsigned', machine.wanted, now);
}

/** Changes to keys that were just made: both of a split zone, or one of them alone, or a CSK; of any algorithm. */
export function roll(
  machine: Machine,
  made: readonly MachineKey[],
  isCompromised: boolean,
): Machine | Refusal {
  const { wanted, serving } = machine;
  if (machine.goal === 'unsigned' || wanted === null) return 'off';
  const isUnderWay = !isSigned(serving) || without(serving.keys, wantedIds(machine)).length > 0;
  if (isUnderWay && !(isCompromised && serving.keys.length < MOST_KEYS)) return 'busy';
  const keys = [...machine.keys, ...made];
  return withGoal({ ...machine, keys }, 'signed', { ...wanted, ...wantedOf(made) }, isCompromised);
}

/**
 * Returns the keys other than `imported` whose DS is at the parent, may be there, or was requested. An import must not replace
 * them: they must be withdrawn first.
 */
export function keysWithDs(
  machine: Machine,
  imported: readonly KeyId[],
  rules: MachineRules,
): readonly KeyId[] {
  const { asked, atLarge, parent } = machine;
  // a key that was imported since the last observation is not yet in `atLarge`
  const shown = keysShown(parent, ownKeys(machine), rules);
  return without(union(asked, union(ownIds(machine, atLarge), shown)), imported);
}

/**
 * Returns the keys that an import of other keys than these would replace although another operator has them too. That operator
 * may have signed the zone with them, so their DS may be at the parent.
 */
export function sharedInPlace(machine: Machine, imported: readonly KeyId[]): readonly MachineKey[] {
  const { keys, serving, goal } = machine;
  const inPlace = union(serving.keys, goal === 'signed' ? wantedIds(machine) : []);
  return keys.filter(({ id, shared }) => shared && inPlace.includes(id) && !imported.includes(id));
}

/**
 * Makes the imported `keys`, with which the zone is signed elsewhere, the goal instead of the keys that are here. `replaced` are
 * the entries that the machine already has for these keys.
 */
export function adopt(machine: Machine, keys: readonly MachineKey[], replaced: readonly KeyId[]): Machine {
  const { atLarge, foreign } = machine;
  const imported = keys.map((key): MachineKey => ({ ...key, shared: 'imported' }));
  const others = machine.keys.filter(({ id }) => !replaced.includes(id));
  const next = {
    ...machine,
    keys: [...others, ...imported],
    atLarge: without(atLarge, replaced),
    ...(foreign && { foreign: { ...foreign, wanted: without(foreign.wanted, replaced) } }),
  };
  return withGoal(next, 'signed', wantedOf(imported) as WantedKeys, false);
}

/** Records that keys with which the zone is signed were imported again: another operator signs it with them. */
export function adoptAgain(machine: Machine, imported: readonly KeyId[]): Machine {
  return withShared(machine, imported, 'imported');
}

/**
 * Records that keys were exported: another operator may sign the zone with them. `isHere` is true if the parent names only our
 * nameservers. Until then an imported key stays `imported`, because the domain has not moved here yet.
 */
export function share(machine: Machine, exported: readonly KeyId[], isHere: boolean): Machine {
  const changed = machine.keys.filter(
    ({ id, shared }) => exported.includes(id) && (isHere || shared !== 'imported'),
  );
  return withShared(
    machine,
    changed.map(({ id }) => id),
    'exported',
  );
}

function withShared(
  machine: Machine,
  ids: readonly KeyId[],
  shared: NonNullable<MachineKey['shared']>,
): Machine {
  const isNew = (key: MachineKey) => ids.includes(key.id) && key.shared !== shared;
  if (!machine.keys.some(isNew)) return machine;
  return { ...machine, keys: machine.keys.map((key) => (isNew(key) ? { ...key, shared } : key)) };
}

/** `keys`: the whole list of another operator's keys that shall stand beside ours. Those that leave stay as long as they must. */
export function setForeign(machine: Machine, keys: readonly MachineKey[]): Machine {
  const { ledger, serving, foreign = NO_FOREIGN_KEYS } = machine;
  const wanted = keys.map(({ id }) => id).sort();
  const known = new Set([
    ...serving.keys,
    ...ledger.keySets.flatMap((version) => version.keys),
    ...ledger.data.flatMap(({ signers }) => signers),
  ]);
  const others = machine.keys.filter(
    ({ id, isForeign }) => !wanted.includes(id) && (isForeign !== true || known.has(id)),
  );
  return withPastImport({ ...machine, keys: [...others, ...keys], foreign: { ...foreign, wanted } });
}

/** The owner has given a list: why an import before it brought nothing needs no attention any more. */
export function withPastImport(machine: Machine): Machine {
  const { imported = null } = machine.foreign ?? {};
  if (!machine.foreign || imported?.failure === undefined || imported.isPast) return machine;
  return { ...machine, foreign: { ...machine.foreign, imported: { ...imported, isPast: true } } };
}

/** Has the keys of another operator fetched from its servers. */
export function askImport(machine: Machine, at: number): Machine {
  return { ...machine, foreign: { ...(machine.foreign ?? NO_FOREIGN_KEYS), importAskedAt: at } };
}

/** The import is made; `failure`: why it has brought nothing, in words for people. */
export function endImport(machine: Machine, at: number, failure?: string): Machine {
  const imported = { at, ...(failure !== undefined && { failure }) };
  const { foreign = NO_FOREIGN_KEYS } = machine;
  return { ...machine, foreign: { ...foreign, importAskedAt: null, imported } };
}

/** So many keys stand in a DNSKEY set at most: owners can ask for new ones as often as they like. */
const MOST_KEYS = 6;

/** A second one finds nothing to give up: a call that is repeated must not take the first one back. */
export function abort(machine: Machine): Machine | Refusal {
  const { before } = machine;
  if (before === null) return 'nothing';
  return { ...withGoal(machine, before.goal, before.wanted ?? machine.wanted, false), before: null };
}

function withGoal(
  machine: Machine,
  goal: Machine['goal'],
  wanted: WantedKeys | null,
  urgent: boolean,
): Machine {
  const before = { goal: machine.goal, wanted: machine.wanted };
  return { ...machine, goal, wanted, urgent, before };
}

/** What the keys are for; one of a split zone is for a part. */
function wantedOf(made: readonly MachineKey[]): Partial<WantedKeys> {
  const sep = made.find(isSep);
  const data = made.find(({ role }) => role !== 'ksk');
  return { ...(sep && { sep: sep.id }), ...(data && { data: data.id }) };
}

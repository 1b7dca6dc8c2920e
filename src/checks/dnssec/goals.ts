// Requests of owners and operators to the key machine. A goal only defines the desired state: the planner continues from
// the current one.

import { firstLedger } from './keep-ledger.ts';
import { type Machine, NO_FOREIGN_KEYS, ownIds, ownKeys, type WantedKeys, wantedIds } from './machine.ts';
import { isSep, type KeyId, type MachineKey } from './machine-key.ts';
import { keysShown, NO_PARENT } from './parent-memory.ts';
import type { MachineRules } from './rules.ts';
import { isSigned, UNSIGNED, union, without } from './serving.ts';

type Refusal =
  /** The last goal has not been reached. */
  | 'busy'
  /** The zone is not signed, and signing was not requested. */
  | 'off'
  /** There is nothing to abort. */
  | 'nothing';

/** Returns the machine of a zone that was never signed. `dataTtl`: its largest TTL in seconds. */
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

/** True if keys must be created first. A zone that was signed before uses its own keys again. */
export function needsKeys({ wanted, keys }: Machine): boolean {
  return wanted === null || ![wanted.sep, wanted.data].every((id) => keys.some((key) => key.id === id));
}

/** `made`: new keys if `needsKeys` is true, otherwise empty. */
export function enable(machine: Machine, made: readonly MachineKey[]): Machine {
  if (machine.goal === 'signed') return machine;
  const wanted = made.length > 0 ? (wantedOf(made) as WantedKeys) : machine.wanted;
  if (wanted === null) throw new Error('cannot sign a zone without keys');
  return withGoal({ ...machine, keys: [...machine.keys, ...made] }, 'signed', wanted, false);
}

/** `now`: skip the stay. */
export function disable(machine: Machine, now: boolean): Machine {
  if (machine.goal === 'unsigned') return now ? { ...machine, urgent: true } : machine;
  return withGoal(machine, 'unsigned', machine.wanted, now);
}

/** Switches to newly created keys, of any algorithm: both keys of a split zone, one of them, or a CSK. */
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
 * Returns the keys other than `imported` whose DS is or may be at the parent, or was requested. An import must not replace
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
 * Returns the keys that an import of other keys would replace although another operator also has them. That operator may
 * have signed the zone with them, so their DS may be at the parent.
 */
export function sharedInPlace(machine: Machine, imported: readonly KeyId[]): readonly MachineKey[] {
  const { keys, serving, goal } = machine;
  const inPlace = union(serving.keys, goal === 'signed' ? wantedIds(machine) : []);
  return keys.filter(({ id, shared }) => shared && inPlace.includes(id) && !imported.includes(id));
}

/**
 * Sets the imported `keys`, which sign the zone elsewhere, as the goal in place of the current keys. `replaced` are the
 * machine's existing entries for these keys.
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

/** Records that keys already in use were imported again, which means that another operator signs the zone with them. */
export function adoptAgain(machine: Machine, imported: readonly KeyId[]): Machine {
  return withShared(machine, imported, 'imported');
}

/**
 * Records that keys were exported: another operator may sign the zone with them. `isHere` is true if the parent lists only
 * our nameservers. Until then an imported key stays `imported`, because the domain has not moved here yet.
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

/**
 * `keys`: the full list of another operator's keys to publish next to ours. Removed keys are published for as long as
 * necessary.
 */
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

/** Records that the owner has provided a list, so an earlier failed import needs no attention any longer. */
export function withPastImport(machine: Machine): Machine {
  const { imported = null } = machine.foreign ?? {};
  if (!machine.foreign || imported?.failure === undefined || imported.isPast) return machine;
  return { ...machine, foreign: { ...machine.foreign, imported: { ...imported, isPast: true } } };
}

/** Requests that another operator's keys are fetched from its servers. */
export function askImport(machine: Machine, at: number): Machine {
  return { ...machine, foreign: { ...(machine.foreign ?? NO_FOREIGN_KEYS), importAskedAt: at } };
}

/** Records the end of an import. `failure`: human-readable reason why it found no keys. */
export function endImport(machine: Machine, at: number, failure?: string): Machine {
  const imported = { at, ...(failure !== undefined && { failure }) };
  const { foreign = NO_FOREIGN_KEYS } = machine;
  return { ...machine, foreign: { ...foreign, importAskedAt: null, imported } };
}

/** Maximum number of keys in a DNSKEY set. Owners can request new ones as often as they like. */
const MOST_KEYS = 6;

/** A second call has nothing to abort, so a repeated request does not undo the first one. */
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

/** Returns the role of each new key. A key of a split zone has one role. */
function wantedOf(made: readonly MachineKey[]): Partial<WantedKeys> {
  const sep = made.find(isSep);
  const data = made.find(({ role }) => role !== 'ksk');
  return { ...(sep && { sep: sep.id }), ...(data && { data: data.id }) };
}

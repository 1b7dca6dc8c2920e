// Decides which steps are allowed now, and what the others must wait for: caches, the delegation, or the DS at the parent.

import { allValidate, dsGoneAt, maySee, type Seeable, servedGoneAt } from './ledger.ts';
import { type Machine, ownIds, ownKeys } from './machine.ts';
import { type KeyId, ownersOf } from './machine-key.ts';
import { isFresh, isNowhere, keysShown, nowhereSince, shownNow } from './parent-memory.ts';
import type { MachineRules } from './rules.ts';
import { union, without } from './serving.ts';
import { type Delegation, type Next, type Step, waitFor } from './step.ts';

/** Returns the step, or how long caches and backups prevent it. `going` has the keys whose DS is no longer in use. */
export function ifAllowed(
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

/**
 * Returns what resolvers may see after the step: what they may see now, what the step adds, and the DS that the registrar
 * may enter at any time.
 */
export function seenAfter(
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

/**
 * Waits until resolvers query only the fleet's servers, or others whose answers validate together with ours. Returns
 * undefined if they do. If the parent shows a DS of the other operator, ours must also be there before the nameservers
 * change, and the other operator's servers must show our keys before that.
 */
export function untilAsked(
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

/**
 * Waits until none of the keys has had a DS for the time of the stay. Returns undefined if that is the case. A disconnected
 * node may have asked a registry, through its CDS set, to publish the DS. The stay begins when no node does so any longer.
 */
export function untilGone(
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

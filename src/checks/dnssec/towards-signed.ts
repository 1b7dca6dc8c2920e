// Finds the next step to the wanted keys: publish them, publish the DS, and withdraw unwanted keys.

import { askedIds, keyOf, type Machine, ownIds, ownKeys, publishedIds } from './machine.ts';
import type { KeyId } from './machine-key.ts';
import { isEverywhere, keysShown } from './parent-memory.ts';
import type { MachineRules } from './rules.ts';
import { isSameServing, isSameSet, isSigned, type Serving, union, without } from './serving.ts';
import { type Delegation, type Next, type Step, type StepKind, waitFor } from './step.ts';
import { ifAllowed, untilAsked, untilGone } from './step-waits.ts';

/** Tries the steps in order (RFC 6781 §4.1.2, §4.1.4) and returns the first that is needed. */
export function towardsSigned(
  machine: Machine,
  delegation: Delegation,
  at: number,
  rules: MachineRules,
): Next {
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
  // signatures by a withdrawn key do not help a new one
  const useful = serving.dataSigners.filter((id) => id === wanted.data || serving.keys.includes(id));
  if (!useful.some((id) => algorithm(id) === algorithm(wanted.data)))
    return take('add_signatures', { ...serving, dataSigners: union(serving.dataSigners, [wanted.data]) });
  const published = {
    keys: union(serving.keys, ids),
    keySigners: union(serving.keySigners, [wanted.sep]),
    dataSigners: serving.dataSigners,
  };
  if (!isSameServing(published, serving)) return take('publish', published);
  // signatures of another algorithm are kept while one of its keys is published (RFC 4035 §2.2)
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

/** True if an answer of the domain's servers did not verify after the last step. */
function isFailing({ preflight, servedAt }: Machine): boolean {
  return (
    preflight !== null && preflight.failure !== undefined && servedAt !== null && preflight.at >= servedAt
  );
}

/** Publishes the DS of the wanted key and those of another operator, and no others. */
function askFor(machine: Machine, delegation: Delegation, at: number, rules: MachineRules): Next {
  const { serving, wanted, preflight, servedAt, failedAt, ledger } = machine;
  const { sep } = wanted as NonNullable<typeof wanted>;
  const step: Step = { kind: 'ask', serving, asked: askedIds(machine) };
  // next to a DS of ours, another operator's DS may be added or removed without harm
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

/** Withdraws keys that are neither wanted nor needed. Returns undefined if there are none. */
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

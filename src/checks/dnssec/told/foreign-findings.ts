// Findings for the owner while another operator signs the same zone: before the domain moves here, or after it has left.

import { foreignKeys, keyOf, type Machine, NO_FOREIGN_KEYS, wantedIds } from '../machine.ts';
import { isSep, type KeyId } from '../machine-key.ts';
import { isEverywhere } from '../parent-memory.ts';
import type { MachineRules } from '../rules.ts';
import { viewParent } from './parent-view.ts';

/** Operator of the servers that the parent lists, by the newest conclusive check. `unknown` if there was none. */
export type DelegatedTo = 'ours' | 'elsewhere' | 'both' | 'unknown';

export interface ForeignFinding {
  readonly code: /** Keys of another operator could not be imported. */
    | 'FOREIGN_KEYS_REFUSED'
    /** Another operator's keys were removed from the list but are still needed. */
    | 'FOREIGN_KEYS_STAY'
    /** Tells, while two operators sign, if the nameservers may be changed. */
    | 'FOREIGN_NS_WAIT'
    | 'FOREIGN_NS_READY';
  readonly severity: 'info' | 'warning';
  readonly message: string;
}

export function foreignFindings(
  machine: Machine,
  delegatedTo: DelegatedTo,
  at: number,
  rules: MachineRules,
): ForeignFinding[] {
  const { foreign = NO_FOREIGN_KEYS, serving } = machine;
  const found: ForeignFinding[] = [];
  if (foreign.imported?.failure !== undefined && !foreign.imported.isPast)
    found.push({
      code: 'FOREIGN_KEYS_REFUSED',
      severity: 'warning',
      message: `The keys of the other operator were not imported: ${foreign.imported.failure}.`,
    });
  const theirs = foreignKeys(machine).filter(({ id }) => serving.keys.includes(id));
  if (theirs.some(({ id }) => !foreign.wanted.includes(id)))
    found.push({
      code: 'FOREIGN_KEYS_STAY',
      severity: 'info',
      message:
        'Keys of the other operator that you have removed from the list stay in the zone until the parent has shown no DS record for them for seven days, and until no resolver can query that operator’s nameservers or still have their answers.',
    });
  const isImported = wantedIds(machine).some((id) => keyOf(machine, id).shared === 'imported');
  if (machine.goal === 'signed' && isImported) {
    if (delegatedTo === 'elsewhere' || delegatedTo === 'both') found.push(moveWithKeys(machine));
  } else if (machine.goal === 'signed' && foreign.wanted.length > 0) {
    found.push(nameserverChange(machine, at, rules));
  }
  return found;
}

/** If both operators have the same keys, the DS stays, and only the answers here must be complete first. */
function moveWithKeys(machine: Machine): ForeignFinding {
  const reason = moveWaitsFor(machine);
  if (reason === undefined)
    return {
      code: 'FOREIGN_NS_READY',
      severity: 'info',
      message:
        'The nameservers of this service answer with the imported keys. You can change the nameservers now. Do not change the DS record, and keep the zone signed at the other operator for two more days.',
    };
  return {
    code: 'FOREIGN_NS_WAIT',
    severity: 'warning',
    message: `Do not change the nameservers yet: ${reason}.`,
  };
}

function moveWaitsFor(machine: Machine): string | undefined {
  const { wanted, serving, servedAt, version, preflight, foreign } = machine;
  const ids = wantedIds(machine);
  if (version === null || servedAt === null || !ids.every((id) => serving.keys.includes(id)))
    return 'not all nameservers of this service have the zone signed with the imported keys yet';
  if (preflight === null || preflight.at < servedAt)
    return 'the answers of this service have not been validated yet';
  if (preflight.failure !== undefined)
    return `the answers of this service do not validate: ${preflight.failure}`;
  if (wanted === null || !preflight.verifiedBy.includes(wanted.sep))
    return 'the answers of this service do not validate with the imported keys';
  const shows = foreign?.shows ?? null;
  if (shows === null) return 'the keys at the nameservers of the other operator are not yet known';
  if (!ids.every((id) => shows.keys.includes(id)))
    return 'the nameservers of the other operator do not show the imported keys';
  if (shows.hasOthers === true)
    return 'the nameservers of the other operator show keys that this zone does not have; add them to the list of foreign keys, or wait until that operator has finished its rollover';
  return undefined;
}

/** Each operator's servers need a DS of their keys in every cache (RFC 8901 §6). */
function nameserverChange(machine: Machine, at: number, rules: MachineRules): ForeignFinding {
  const from = nameserversFrom(machine, rules);
  if (from !== undefined && at >= from)
    return {
      code: 'FOREIGN_NS_READY',
      severity: 'info',
      message:
        'The DS records of both operators are at the parent and in every cache. You can change the nameservers now. Afterwards, remove the DS record of the operator that you leave, and then its keys.',
    };
  const when =
    from === undefined ? 'the DS records of both operators are at the parent' : new Date(from).toISOString();
  return {
    code: 'FOREIGN_NS_WAIT',
    severity: 'warning',
    message: `Do not change the nameservers before ${when}: resolvers could query the new ones while they only have the DS record of the old ones.`,
  };
}

/** Returns when every cache has a DS of each operator. Returns undefined if the parent does not show both. */
function nameserversFrom(machine: Machine, rules: MachineRules): number | undefined {
  const { parent, wanted, foreign } = machine;
  const since = (id: KeyId) =>
    isEverywhere(parent, id, rules) ? (parent.runs[id]?.everywhereSince ?? undefined) : undefined;
  const ours = wanted === null ? undefined : since(wanted.sep);
  const theirs = foreignKeys(machine)
    .filter((key) => isSep(key) && foreign?.wanted.includes(key.id))
    .flatMap(({ id }) => since(id) ?? []);
  if (ours === undefined || theirs.length === 0) return undefined;
  const { ttl = 0 } = viewParent(machine, rules);
  return Math.max(ours, Math.min(...theirs)) + ttl * 1000 + rules.parentSlackMs;
}

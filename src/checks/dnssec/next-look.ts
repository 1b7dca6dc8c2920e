// When the machine is looked at again, and what has to be seen for it then.

import { nextDsAt } from './ds-cadence.ts';
import { keyOf, type Machine, sharedKeys, wantedIds } from './machine.ts';
import type { MachineRules } from './rules.ts';
import { isSigned } from './serving.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A wait of which nothing is known is looked at so often. */
const MOST = 12 * HOUR;
/** Nodes have what is written within a second, or are away for long. */
const NODES = { eagerForMs: 10 * MINUTE, eagerMs: 5 * SECOND, patientMs: 5 * MINUTE };
/** Four questions at each address of the domain's servers. */
const PREFLIGHT = { eagerForMs: HOUR, eagerMs: MINUTE, patientMs: HOUR };

/** While nothing is asked for: whoever adds or removes a DS without being asked to is seen so soon. */
const AT_REST = 12 * HOUR;
/** After a zone was unsigned a DS of its keys that comes back is looked for, as long as they exist. */
const AFTERWARDS = { forMs: 40 * 24 * HOUR, everyMs: HOUR };

/** In milliseconds from `at`, of a machine that has no step to take now. */
export function nextLookIn(machine: Machine, at: number): number {
  const { waiting } = machine;
  const dsIn = dsDueAfter(machine, at) - at;
  const usual = Math.min(Math.max(dsIn, MINUTE), MOST);
  const often = (pace: typeof NODES, since: number) =>
    at - since < pace.eagerForMs ? pace.eagerMs : pace.patientMs;
  if (machine.servedAt !== null && isMoveUnproven(machine))
    return isPreflown(machine) ? Math.min(usual, often(PREFLIGHT, machine.servedAt)) : NODES.eagerMs;
  if (waiting === null) return usual;
  switch (waiting.cause) {
    case 'writing':
    case 'nodes':
      return often(NODES, waiting.since);
    case 'preflight':
    case 'strangers':
    case 'foreign':
      return Math.min(usual, often(PREFLIGHT, waiting.since));
    default: {
      const endIn = (waiting.until ?? Number.POSITIVE_INFINITY) - at + 1;
      return Math.max(SECOND, Math.min(usual, endIn));
    }
  }
}

/** Whether the parent is to be asked for the DS set. */
export function isDsDue(machine: Machine, at: number): boolean {
  const { askedAt } = machine.parent;
  if (askedAt === null) return isSigned(machine.serving) || machine.goal === 'signed';
  // the pace of the time when it was asked last: each observation is followed by the next one of that pace
  return dsDueAfter(machine, Math.min(askedAt, at)) <= at;
}

/** When the parent is asked again that was asked last at `at`. */
function dsDueAfter(machine: Machine, at: number): number {
  const next = nextDsAt(machine, at);
  if (next !== undefined) return next;
  if (isSigned(machine.serving)) return at + AT_REST;
  const isAfterwards = machine.askedAt !== null && at - machine.askedAt < AFTERWARDS.forMs;
  return isAfterwards ? at + AFTERWARDS.everyMs : Number.POSITIVE_INFINITY;
}

/** Whether the servers of another operator are to be asked which keys they show. `isOurs`: the parent names ours alone. */
export function isForeignDue(machine: Machine, isOurs: boolean): boolean {
  const { waiting, foreign } = machine;
  if (waiting?.cause === 'foreign' && foreign !== undefined && foreign.wanted.length > 0) return true;
  return !isOurs && sharedKeys(machine).some(({ shared }) => shared === 'imported');
}

/** Whether the domain's own servers are to be asked, with each key that may have a DS. */
export function isPreflightDue(
  machine: Machine,
  at: number,
  { freshMs }: Pick<MachineRules, 'freshMs'>,
): boolean {
  const { preflight, serving, servedAt, waiting } = machine;
  if (!isSigned(serving) || servedAt === null) return false;
  if (preflight === null || preflight.at < servedAt || isMoveUnproven(machine)) return true;
  if (waiting?.cause === 'preflight' || waiting?.cause === 'strangers') return true;
  const waits = waiting?.cause === 'caches' || waiting?.cause === 'delegation';
  // the one that a step needs is made beforehand, so that the step needs no further look
  return waits && waiting.until !== undefined && waiting.until <= at && at - preflight.at > freshMs / 2;
}

/**
 * True if answers with imported keys are not known to validate. The owner waits for that before the nameservers change, also
 * if no step of the keys does.
 */
function isMoveUnproven(machine: Machine): boolean {
  const { goal, wanted, preflight } = machine;
  if (goal !== 'signed' || wanted === null) return false;
  if (!wantedIds(machine).some((id) => keyOf(machine, id).shared === 'imported')) return false;
  return (
    !isPreflown(machine) || preflight?.failure !== undefined || !preflight?.verifiedBy.includes(wanted.sep)
  );
}

/** True if the domain's own servers were asked since every node has the last step. */
function isPreflown({ preflight, servedAt }: Machine): boolean {
  return preflight !== null && servedAt !== null && preflight.at >= servedAt;
}

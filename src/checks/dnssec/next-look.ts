// Decides when a worker examines the machine again, and which servers it queries at that time.

import { nextDsAt } from './ds-cadence.ts';
import { keyOf, type Machine, sharedKeys, wantedIds } from './machine.ts';
import type { MachineRules } from './rules.ts';
import { isSigned } from './serving.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Maximum time between two examinations. */
const MOST = 12 * HOUR;
/** A node either receives a change within a second, or is offline for a long time. */
const NODES = { eagerForMs: 10 * MINUTE, eagerMs: 5 * SECOND, patientMs: 5 * MINUTE };
/** A preflight sends four queries to each address of the domain's servers. */
const PREFLIGHT = { eagerForMs: HOUR, eagerMs: MINUTE, patientMs: HOUR };

/** The interval while the parent has the expected DS set. An unexpected change is noticed within this time. */
const AT_REST = 12 * HOUR;
/** After signing has ended, workers query for DS records of its keys as long as the keys exist. */
const AFTERWARDS = { forMs: 40 * 24 * HOUR, everyMs: HOUR };

/** Returns the number of milliseconds after `at` when a machine without a current step is examined again. */
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

/** True if a worker must query the parent for the DS set. */
export function isDsDue(machine: Machine, at: number): boolean {
  const { askedAt } = machine.parent;
  if (askedAt === null) return isSigned(machine.serving) || machine.goal === 'signed';
  // The last observation decides the time of the next one.
  return dsDueAfter(machine, Math.min(askedAt, at)) <= at;
}

/** Returns when the parent is queried again if it was queried at `at`. */
function dsDueAfter(machine: Machine, at: number): number {
  const next = nextDsAt(machine, at);
  if (next !== undefined) return next;
  if (isSigned(machine.serving)) return at + AT_REST;
  const isAfterwards = machine.askedAt !== null && at - machine.askedAt < AFTERWARDS.forMs;
  return isAfterwards ? at + AFTERWARDS.everyMs : Number.POSITIVE_INFINITY;
}

/**
 * True if a worker must query another operator's servers for their DNSKEY set. `isOurs` is true if the parent lists only
 * this fleet's servers.
 */
export function isForeignDue(machine: Machine, isOurs: boolean): boolean {
  const { waiting, foreign } = machine;
  if (waiting?.cause === 'foreign' && foreign !== undefined && foreign.wanted.length > 0) return true;
  return !isOurs && sharedKeys(machine).some(({ shared }) => shared === 'imported');
}

/** True if a worker must query the domain's own servers and validate their answers with each key that may have a DS. */
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
  // A step that waits for a fixed time gets its preflight shortly before, so that no further examination is needed.
  return waits && waiting.until !== undefined && waiting.until <= at && at - preflight.at > freshMs / 2;
}

/**
 * True if it is not yet known that answers with imported keys validate. The owner waits for this before changing the
 * nameservers, even if no key step does.
 */
function isMoveUnproven(machine: Machine): boolean {
  const { goal, wanted, preflight } = machine;
  if (goal !== 'signed' || wanted === null) return false;
  if (!wantedIds(machine).some((id) => keyOf(machine, id).shared === 'imported')) return false;
  return (
    !isPreflown(machine) || preflight?.failure !== undefined || !preflight?.verifiedBy.includes(wanted.sep)
  );
}

/** True if the domain's own servers were queried after every node had the last step. */
function isPreflown({ preflight, servedAt }: Machine): boolean {
  return preflight !== null && servedAt !== null && preflight.at >= servedAt;
}

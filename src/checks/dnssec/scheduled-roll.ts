// When a ZSK is replaced without anybody asking: such a rollover needs nothing at the registrar. Keys that the parent knows are
// never replaced by themselves (RFC 6781 §3.3 leaves it open).

import { keyOf, type Machine } from './machine.ts';
import type { KeyId } from './machine-key.ts';

interface RollSchedule {
  /** How old a ZSK gets. */
  readonly everyMs: number;
  /** Zones that were signed together do not roll together. */
  readonly signedZoneId: number;
  /** In milliseconds since 1970. */
  readonly madeAt: (key: KeyId) => number | undefined;
}

/** Spread over a tenth of the time. */
const SPREAD = 100;

/** The ZSK of a domain that waits for nothing, once it is old; undefined: there is none. */
export function oldZsk(machine: Machine, schedule: RollSchedule, at: number): KeyId | undefined {
  const { goal, wanted, waiting, before, version } = machine;
  const isAtRest = goal === 'signed' && waiting === null && before === null && version !== null;
  if (!isAtRest || wanted === null || keyOf(machine, wanted.data).role !== 'zsk') return undefined;
  const { everyMs, signedZoneId, madeAt } = schedule;
  const age = at - (madeAt(wanted.data) ?? at);
  const later = (everyMs / 10) * ((signedZoneId % SPREAD) / SPREAD);
  return age >= everyMs + later ? wanted.data : undefined;
}

// Decides when a ZSK is replaced automatically: such a rollover needs no action at the registrar. Keys known to the parent
// are never replaced automatically (RFC 6781 §3.3 leaves this open).

import { keyOf, type Machine } from './machine.ts';
import type { KeyId } from './machine-key.ts';

interface RollSchedule {
  /** Maximum age of a ZSK. */
  readonly everyMs: number;
  /** Spreads the rollovers of zones that were signed together. */
  readonly signedZoneId: number;
  /** In milliseconds since 1970. */
  readonly madeAt: (key: KeyId) => number | undefined;
}

/** Spread over a tenth of the interval. */
const SPREAD = 100;

/** Returns the ZSK of a domain without pending steps, once the key is old enough. Otherwise returns undefined. */
export function oldZsk(machine: Machine, schedule: RollSchedule, at: number): KeyId | undefined {
  const { goal, wanted, waiting, before, version } = machine;
  const isAtRest = goal === 'signed' && waiting === null && before === null && version !== null;
  if (!isAtRest || wanted === null || keyOf(machine, wanted.data).role !== 'zsk') return undefined;
  const { everyMs, signedZoneId, madeAt } = schedule;
  const age = at - (madeAt(wanted.data) ?? at);
  const later = (everyMs / 10) * ((signedZoneId % SPREAD) / SPREAD);
  return age >= everyMs + later ? wanted.data : undefined;
}

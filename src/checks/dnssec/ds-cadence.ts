// Decides when to query the parent for the DS set again: often while an owner waits for us to see it, rarely while a stay
// runs, and otherwise only if a delegation check sees a different DS set than the last observation.

import type { Machine } from './machine.ts';
import { DAY_MS as DAY } from './rules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Applies after a DS was requested, or its request was withdrawn. */
const HASTE = { forMs: 6 * HOUR, everyMs: 5 * MINUTE };
const PATIENCE = { forMs: 30 * DAY, everyMs: HOUR };
/** A gap of a day would restart the stay. */
const DURING_STAY = 6 * HOUR;

/**
 * Returns the time of the next query, in milliseconds since 1970. Returns undefined if a query is needed only when a delegation
 * check sees a different DS set.
 */
export function nextDsAt(machine: Machine, at: number): number | undefined {
  const { waiting, askedAt, serving, parent } = machine;
  if (waiting === null) return undefined;
  switch (waiting.cause) {
    case 'stay':
      return Math.max(at + MINUTE, Math.min(at + DURING_STAY, waiting.until ?? Number.POSITIVE_INFINITY));
    case 'observation':
      return Math.max(at, (parent.askedAt ?? 0) + PATIENCE.everyMs);
    case 'ds_wanted':
    case 'ds_unwanted': {
      // a change must be confirmed by a second observation
      const changes = Object.values(parent.runs).map((run) =>
        Math.max(run.everywhereSince ?? 0, run.goneSince ?? 0),
      );
      const age = at - Math.max(askedAt ?? 0, waiting.since, ...changes);
      if (age < HASTE.forMs) return at + HASTE.everyMs;
      return age < PATIENCE.forMs ? at + PATIENCE.everyMs : undefined;
    }
    default:
      // the stay of a DS that was never requested begins with an observation
      return serving.keys.length > 0 ? at + DURING_STAY : undefined;
  }
}

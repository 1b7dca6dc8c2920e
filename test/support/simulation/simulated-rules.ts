// The settings that the simulated checkers run with.

import { type Rules, UNKNOWN_PENDING_MAX_MS } from '../../../src/checks/delegation/next-status.ts';
import { DAY } from './virtual-time.ts';

export const RULES: Rules = {
  movedAfterMs: DAY,
  movedGraceMs: 14 * DAY,
  pendingMaxMs: 28 * DAY,
  unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS,
};

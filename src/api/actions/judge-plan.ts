// Returns a problem if a gate of the plan refuses a call.

import type { Entitlements } from '../../billing/entitlements.ts';
import { type Gate, judgeGate } from '../../billing/gates.ts';
import { type Problem, problem } from '../answers/problem.ts';

/** `amount`: for a limit, the amount that would be in use after the call. */
export function judgePlan(gate: Gate, plan: Entitlements | null, amount?: number): Problem | undefined {
  const refused = judgeGate(gate, plan, amount);
  if (refused === undefined) return undefined;
  const { code, message, ...members } = refused;
  return problem(code, message, members);
}

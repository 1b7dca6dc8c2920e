// Whether a caller whose answer goes on may still have it: the request is judged as when it came. What is different ends the answer,
// also where the caller could begin another.

import { Problem } from '../answers/problem.ts';
import type { ApiCaller } from '../callers/caller.ts';
import type { Admitted } from '../calls/guard.ts';
import type { Judgement } from '../events/event-feed.ts';

/** Rejects where the service itself cannot tell. */
export async function judgeAgain(
  before: Admitted,
  identify: () => Promise<ApiCaller | Problem>,
  admit: (caller: ApiCaller) => Promise<Admitted | Problem>,
): Promise<Judgement> {
  const caller = await identify();
  if (caller instanceof Problem) return judgeProblem(caller);
  const now = await admit(caller);
  if (now instanceof Problem) return judgeProblem(now);
  const isSame =
    now.domain?.id === before.domain?.id &&
    now.domain?.myRole === before.domain?.myRole &&
    now.caller.account.isAdmin === before.caller.account.isAdmin;
  return isSame ? 'same' : 'ended';
}

function judgeProblem({ status, error }: Problem): Judgement {
  if (status >= 500) throw new Error(error);
  return 'ended';
}

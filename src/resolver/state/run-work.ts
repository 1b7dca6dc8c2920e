// Runs one piece of the resolver's work within its limits. The work is counted while it runs, and ends with its signal.

import type { Limits } from './limits.ts';
import type { ResolverState } from './resolver-state.ts';
import { Stopped, Work } from './work.ts';

interface WorkOptions {
  readonly limits: Limits;
  readonly signal: AbortSignal | undefined;
  /** Called once if the work has waited long for packets. If it returns false, the work ends. */
  readonly onSlow?: (() => boolean) | undefined;
  /** If true, remembered timeouts are ignored. */
  readonly fresh?: boolean | undefined;
}

/** Rejects with the signal's reason when that aborts. */
export async function runWork<T>(
  state: ResolverState,
  { limits, signal, onSlow, fresh }: WorkOptions,
  perform: (work: Work) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const work = new Work(limits, signal, { onSlow, fresh });
  if (work.fresh) work.failuresSince = state.around.now();
  state.begin(work);
  try {
    return await perform(work);
  } catch (error) {
    if (error instanceof Stopped) signal?.throwIfAborted();
    throw error;
  } finally {
    state.end(work);
    work.end();
  }
}

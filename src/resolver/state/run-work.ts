// Runs one piece of the resolver's work within its limits. The work is counted while it runs, and ends with its signal.

import type { Limits } from './limits.ts';
import type { ResolverState } from './resolver-state.ts';
import { Stopped, Work } from './work.ts';

/** Rejects with the signal's reason when that aborts. */
export async function runWork<T>(
  state: ResolverState,
  { limits, signal }: { readonly limits: Limits; readonly signal: AbortSignal | undefined },
  perform: (work: Work) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const work = new Work(limits, signal);
  state.running.add(work);
  try {
    return await perform(work);
  } catch (error) {
    if (error instanceof Stopped) signal?.throwIfAborted();
    throw error;
  } finally {
    state.running.delete(work);
    work.end();
  }
}

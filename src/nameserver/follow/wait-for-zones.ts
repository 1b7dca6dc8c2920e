// Waits in the main thread until the image's thread has the zones.

import { setTimeout as pause } from 'node:timers/promises';
import { hidePasswords } from '../../process/hide-passwords.ts';
import type { ProcessLife } from '../../process/run-process.ts';
import { StartFault } from '../../process/start-fault.ts';
import { findRejection } from './follow-state.ts';
import type { ImageThread } from './start-image-thread.ts';

const LOADED_POLL_MS = 5;
/**
 * Time that a process with a snapshot waits for the database before it is ready: the schema may be wrong, or the name taken.
 */
const DATABASE_GRACE_MS = 2000;
/** Time that a successor waits for the database if the snapshot has zones. */
const CURRENT_TIMEOUT_MS = 10_000;

export function whyNotListening(thread: ImageThread): string {
  const { doing, done, total } = thread.progress;
  const state = thread.state();
  const isReading = doing === 'reading the snapshot' || doing === 'reading the log of the snapshot';
  if (isReading) return total > 0 ? `${doing}: ${done} of ${total} MiB` : doing;
  if (state === undefined) return thread.isReached() ? 'claiming the node name in the database' : 'starting';
  if (state.loaded) return 'not listening yet';
  const why = state.fault === undefined ? '' : `: ${hidePasswords(state.fault)}`;
  if (!state.connected) return `the database has not been reached yet${why}`;
  return total > 0 ? `loading zones: ${done} of ${total}${why}` : `loading zones${why}`;
}

interface WaitOptions {
  readonly life: ProcessLife;
  readonly databaseReadUrl: string | undefined;
}

export async function untilLoaded(
  thread: ImageThread,
  { life, databaseReadUrl }: WaitOptions,
): Promise<void> {
  await thread.started;
  while (!thread.state()?.loaded) {
    const rejection = findRejection(thread.state(), Date.now());
    if (rejection !== undefined) {
      const setting = databaseReadUrl === undefined ? 'DATABASE_URL' : 'DATABASE_READ_URL';
      throw new StartFault(`${setting}: ${hidePasswords(rejection)}`);
    }
    await pause(LOADED_POLL_MS, undefined, { signal: life.stopping });
  }
}

/** Rejects if the database reports in time that this process must not run. Until then it answers from the snapshot. */
export async function untilJudged(thread: ImageThread, life: ProcessLife): Promise<void> {
  const signal = life.stopping;
  thread.started.catch(life.fail);
  await Promise.race([thread.started, pause(DATABASE_GRACE_MS, undefined, { signal })]);
  if (thread.isReached()) await thread.started;
}

/** Resolves when this process is as current as its predecessor, which serves until then. */
export async function untilCurrent(
  thread: ImageThread,
  isServing: boolean,
  life: ProcessLife,
): Promise<void> {
  const signal = life.stopping;
  await thread.started;
  const deadline = performance.now() + CURRENT_TIMEOUT_MS;
  while (!thread.state()?.isCurrent) {
    if (isServing && performance.now() > deadline) return; // the database answers neither process
    await pause(LOADED_POLL_MS, undefined, { signal });
  }
}

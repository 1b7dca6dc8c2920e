// Runs one call per item, a few concurrently. If the API asks to wait, all calls wait, and the item is tried again.

import { type ApiError, asApiError } from '../../api/api-error.ts';

export interface EachResult<T> {
  readonly item: T;
  /** Absent if it succeeded. */
  readonly error?: ApiError;
}

interface Run<T> {
  readonly call: (item: T) => Promise<unknown>;
  readonly onResult: (result: EachResult<T>) => void;
  readonly isEnded: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
}

const AT_ONCE = 3;
const MOST_TRIES = 10;
const LONGEST_WAIT_SECONDS = 90;

export async function runEach<T>(items: readonly T[], run: Run<T>): Promise<void> {
  const left = [...items];
  let waiting: Promise<void> | undefined;
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      for (let attempt = 1; ; attempt++) {
        await waiting;
        if (run.isEnded()) return;
        const error = await run.call(item).then(
          () => undefined,
          (failed: unknown) => asApiError(failed),
        );
        const seconds = attempt < MOST_TRIES ? waitOf(error) : undefined;
        if (seconds === undefined) {
          run.onResult({ item, ...(error !== undefined && { error }) });
          break;
        }
        waiting ??= run.pause(seconds * 1000).finally(() => {
          waiting = undefined;
        });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Only for rate limits: other errors concern only the item. */
function waitOf(error: ApiError | undefined): number | undefined {
  if (error?.status !== 429 || error.code !== undefined) return undefined;
  const seconds = error.retryAfter ?? 1;
  return seconds <= LONGEST_WAIT_SECONDS ? seconds : undefined;
}

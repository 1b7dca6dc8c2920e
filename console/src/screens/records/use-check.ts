// Validates the draft while it is edited: sends it to the API as a dry run after a pause, one request at a time.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { type BatchOfRows, batchOf, isEmptyBatch, NO_PROBLEMS, type Problems, problemsOf } from './batch.ts';
import type { Draft } from './draft.ts';
import { typedOfRow } from './rows.ts';
import type { Warning } from './warning-list.tsx';

const REST_MS = 300;
/** Delay if there was no response or the API was busy. */
const AGAIN_MS = 3000;

export interface Checked {
  readonly problems: Problems;
  /** Error about the whole draft, or the reason why it could not be validated. */
  readonly error: ApiError | undefined;
  /** Warnings about records that can be saved. */
  readonly warnings: readonly Warning[];
  /** The draft that was validated last. */
  readonly of: Draft | undefined;
}

const UNCHECKED: Checked = {
  problems: NO_PROBLEMS,
  error: undefined,
  warnings: [],
  of: undefined,
};

export function useCheck(domain: string, draft: Draft, isWanted: boolean): Checked {
  const [checked, setChecked] = useState(UNCHECKED);
  const latest = useRef(draft);
  latest.current = draft;
  const running = useRef<AbortController | undefined>(undefined);

  const turn = async (): Promise<void> => {
    if (running.current !== undefined) return; // the running check starts another one when it ends
    const mine = new AbortController();
    running.current = mine;
    const judged = latest.current;
    const result = await judge(domain, judged, mine.signal);
    running.current = undefined;
    if (mine.signal.aborted) return;
    setChecked(result);
    if (latest.current !== judged) await turn();
  };

  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(() => void turn(), REST_MS);
    return () => clearTimeout(timer);
  }, [draft, isWanted]);
  useEffect(() => {
    const { error, of } = checked;
    if (!isWanted || of !== draft || error?.isPassing !== true) return;
    const timer = setTimeout(() => void turn(), Math.max(AGAIN_MS, (error.retryAfter ?? 0) * 1000));
    return () => clearTimeout(timer);
  }, [checked, draft, isWanted]);
  useEffect(
    () => () => {
      running.current?.abort();
      running.current = undefined;
    },
    [],
  );
  return checked;
}

async function judge(domain: string, draft: Draft, signal: AbortSignal): Promise<Checked> {
  const batch = batchOf(draft);
  if (isEmptyBatch(batch)) return { ...UNCHECKED, of: draft };
  try {
    const result = await sendBatch(domain, batch, { dryRun: true, signal });
    return { ...UNCHECKED, warnings: result?.warnings ?? [], of: draft };
  } catch (error) {
    return { ...UNCHECKED, ...explain(asApiError(error), batch, draft), of: draft };
  }
}

/** Errors of the API by row. Others stay an error of the whole draft. */
export function explain(
  error: ApiError,
  batch: BatchOfRows,
  draft: Draft,
): { problems: Problems; error: ApiError | undefined } {
  const items = error.problem.items ?? [];
  const problems = problemsOf(items, batch, (key) => typedOfRow(draft, key));
  return { problems, error: problems.size > 0 ? undefined : error };
}

interface Sending {
  readonly dryRun?: boolean;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export async function sendBatch(
  domain: string,
  { body }: BatchOfRows,
  { dryRun, idempotencyKey, signal }: Sending,
) {
  const answer = await api.PUT('/domains/{domain}/records/batch', {
    params: {
      path: { domain },
      ...(dryRun === true && { query: { dry_run: true } }),
      ...(idempotencyKey !== undefined && { header: { 'Idempotency-Key': idempotencyKey } }),
    },
    body: body as never, // as typed: the API reports invalid numbers
    signal,
  });
  return answer.data;
}

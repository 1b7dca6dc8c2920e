// Saves the draft as one change. The idempotency key is kept until a response arrives, so that a repeat does not save twice.

import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { batchOf, NO_PROBLEMS, type Problems } from './batch.ts';
import { type Draft, unfinished } from './draft.ts';
import { explain, sendBatch } from './use-check.ts';
import { bodyFingerprint, type Editor } from './use-editor.ts';
import type { Warning } from './warning-list.tsx';

export interface SavedChange {
  readonly changeId: number;
  /** Time of the request. */
  readonly sentMs: number;
}

export interface Save {
  readonly isReviewing: boolean;
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  readonly problems: Problems;
  readonly saved: SavedChange | undefined;
  /** Warnings of the last save. Cleared when the next one is reviewed. */
  readonly warnings: readonly Warning[];
  /** True if a save was sent and no response arrived. */
  readonly isUnanswered: boolean;
  readonly review: () => Promise<void>;
  readonly close: () => void;
  readonly confirm: () => Promise<void>;
}

export function useSave(editor: Editor): Save {
  const [isReviewing, setReviewing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [refused, setRefused] = useState<{ of: Draft | undefined; problems: Problems }>();
  const [saved, setSaved] = useState<SavedChange>();
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  const { draft, attempt, isUnanswered } = editor;
  const problems = refused?.of === draft ? refused.problems : NO_PROBLEMS;

  /** Based on the current records, except for a save that may have succeeded. */
  const review = async () => {
    setBusy(true);
    setError(undefined);
    setWarnings([]);
    if (!isUnanswered) await editor.refresh();
    setBusy(false);
    setReviewing(true);
  };

  const confirm = async () => {
    const batch = batchOf(draft);
    const of = bodyFingerprint(draft);
    const key = attempt.of === of ? attempt.key : crypto.randomUUID();
    editor.beginAttempt({ key, of });
    setBusy(true);
    setError(undefined);
    const sentMs = performance.now();
    try {
      const result = await sendBatch(editor.domain, batch, { idempotencyKey: key });
      editor.endAttempt();
      editor.begin({ ...draft, edits: {}, creates: unfinished(draft) });
      setReviewing(false);
      if (result?.change_id !== undefined) setSaved({ changeId: result.change_id, sentMs });
      setWarnings(result?.warnings ?? []);
      await editor.refresh();
    } catch (thrown) {
      const failure = asApiError(thrown);
      if (!failure.isPassing) editor.endAttempt();
      const explained = explain(failure, batch, draft);
      setError(explained.problems.size > 0 ? undefined : failure);
      if (explained.problems.size > 0) {
        setRefused({ of: draft, problems: explained.problems });
        setReviewing(false);
        await editor.refresh();
      }
    } finally {
      setBusy(false);
    }
  };
  const close = () => setReviewing(false);
  return { isReviewing, isBusy, error, problems, saved, warnings, isUnanswered, review, close, confirm };
}

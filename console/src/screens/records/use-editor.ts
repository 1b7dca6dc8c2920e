// The records of a domain with the draft, shared by all parts of the editor.

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import { useDraft } from '../../app/drafts.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { batchOf } from './batch.ts';
import { type Conflict, rebase } from './conflicts.ts';
import { type Draft, isEmpty, NO_DRAFT, type RowKey } from './draft.ts';
import { fingerprint } from './fingerprint.ts';
import { sortRecords } from './rows.ts';
import type { KeptRecord } from './typed.ts';
import { back, forth, NO_STEPS, step, type UndoStack } from './undo-stack.ts';

interface Attempt {
  readonly key: string;
  /** Fingerprint of the request that used this key. */
  readonly of: string;
}

const NO_ATTEMPT: Attempt = { key: '', of: '' };

export function bodyFingerprint(draft: Draft): string {
  return fingerprint(JSON.stringify(batchOf(draft).body));
}

export interface Editor {
  readonly domain: string;
  readonly canEdit: boolean;
  readonly loaded: Loaded<readonly KeptRecord[]>;
  readonly sorted: readonly KeptRecord[];
  readonly byId: ReadonlyMap<RowKey, KeptRecord>;
  readonly draft: Draft;
  readonly conflicts: readonly Conflict[];
  /** `about` joins edits to one undo step. */
  readonly change: (edit: (draft: Draft) => Draft, about?: string) => void;
  readonly undo: (() => void) | undefined;
  readonly redo: (() => void) | undefined;
  /** Called after a save, because earlier edits can no longer be undone here. */
  readonly begin: (draft: Draft) => void;
  /** The last save, until its response arrives. */
  readonly attempt: Attempt;
  readonly beginAttempt: (attempt: Attempt) => void;
  readonly endAttempt: () => void;
  /** A draft that was sent without a response. It must not change, because it may have been saved. */
  readonly isUnanswered: boolean;
  /** Loads the records and applies the draft. */
  readonly refresh: () => Promise<void>;
}

const NONE: readonly KeptRecord[] = [];

export function useEditor(): Editor {
  const { name, domain } = useDomain();
  const loaded = useLoad<readonly KeptRecord[]>(`records ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/records/', { params: { path: { domain: name } }, signal })),
  );
  const [kept, keep] = useDraft<Draft>(`records ${domain.id}`, NO_DRAFT);
  const [steps, setSteps] = useState<UndoStack<Draft>>(NO_STEPS);
  const sorted = useMemo(() => sortRecords(loaded.data ?? NONE), [loaded.data]);
  const byId = useMemo(() => new Map(sorted.map((record) => [String(record.id), record])), [sorted]);
  const [attempt, keepAttempt, dropAttempt] = useDraft(`records-save ${domain.id}`, NO_ATTEMPT);
  const isUnanswered = useMemo(
    () => attempt.key !== '' && !isEmpty(kept) && bodyFingerprint(kept) === attempt.of,
    [attempt, kept],
  );
  const { draft, conflicts } = useMemo(
    () => (loaded.data === undefined || isUnanswered ? { draft: kept, conflicts: [] } : rebase(kept, byId)),
    [kept, byId, loaded.data, isUnanswered],
  );

  // Another tab changed the draft: an undo here would discard the input there.
  const lastPut = useRef(kept);
  useEffect(() => {
    if (kept !== lastPut.current) setSteps(NO_STEPS);
    lastPut.current = kept;
  }, [kept]);
  const now = useRef({ draft, steps });
  now.current = { draft, steps };
  const put = useCallback(
    (next: Draft, nextSteps: UndoStack<Draft>) => {
      now.current = { draft: next, steps: nextSteps };
      setSteps(nextSteps);
      lastPut.current = next;
      keep(next);
    },
    [keep],
  );
  const change = useCallback(
    (edit: (draft: Draft) => Draft, about?: string) => {
      const { draft, steps } = now.current;
      const next = edit(draft);
      if (next !== draft) put(next, step(steps, draft, about));
    },
    [put],
  );
  const walk = (turn: typeof back) => () => {
    const turned = turn(now.current.steps, now.current.draft);
    if (turned !== undefined) put(turned.value, turned.stack);
  };
  return {
    domain: name,
    canEdit: mayDo(domain, 'records.edit'),
    loaded,
    sorted,
    byId,
    draft,
    conflicts,
    change,
    undo: steps.past.length === 0 ? undefined : walk(back),
    redo: steps.future.length === 0 ? undefined : walk(forth),
    begin: useCallback((next: Draft) => put(next, NO_STEPS), [put]),
    attempt,
    beginAttempt: (next) => {
      lastPut.current = now.current.draft;
      keep(now.current.draft); // stores exactly the draft that is sent
      keepAttempt(next);
    },
    endAttempt: dropAttempt,
    isUnanswered,
    refresh: loaded.reload,
  };
}

// Reverts a change. First shows its effect on the current records, validated by the API as a dry run.

import { useRef } from 'preact/hooks';
import { asApiError } from '../../api/api-error.ts';
import { api, dataOf, idempotent } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { history } from '../../words/history.ts';
import { records as recordsWords } from '../../words/records.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { batchOf, isEmptyBatch } from '../records/batch.ts';
import { rebase } from '../records/conflicts.ts';
import { type Difference, differencesOf, tally } from '../records/diff.ts';
import { DiffList } from '../records/diff-list.tsx';
import type { KeptRecord } from '../records/typed.ts';
import { sendBatch } from '../records/use-check.ts';
import type { Change } from './change-summary.tsx';
import { revertDraft } from './revert-draft.ts';

interface Preview {
  readonly differences: readonly Difference[];
  /** Records that have changed since. */
  readonly later: number;
  /** Why the API would reject the revert. */
  readonly refusal: string | undefined;
}

interface RevertProps {
  readonly change: Change;
  readonly onClose: () => void;
  readonly onReverted: (made: Change) => void;
}

export function RevertDialog({ change, onClose, onReverted }: RevertProps) {
  const { name } = useDomain();
  const say = history;
  const key = useRef(idempotent());
  const preview = useLoad<Preview>(`revert ${name} ${change.id}`, (signal) =>
    previewOf(name, change, signal),
  );
  const revert = useAction(async () => {
    const params = { path: { domain: name, id: change.id }, ...key.current };
    onReverted(await dataOf(api.POST('/domains/{domain}/changes/{id}/revert', { params })));
  });
  return (
    <Dialog title={say.revertTitle(change.id)} isWide onClose={onClose}>
      <p>{say.revertText}</p>
      <Loading of={preview}>
        {({ differences, later, refusal }) => (
          <>
            {later > 0 && <Note tone="warn">{say.later(later)}</Note>}
            {refusal !== undefined && <Note tone="bad">{refusal}</Note>}
            {differences.length > 0 && (
              <>
                <p>{recordsWords.tally(tally(differences))}</p>
                <DiffList differences={differences} label={say.revertTitle(change.id)} />
              </>
            )}
            {(change.rules ?? []).length > 0 && <p>{say.revertRules}</p>}
            <Failure error={revert.error} />
            <div class="row">
              <Button
                kind="main"
                isBusy={revert.isBusy}
                disabled={refusal !== undefined}
                onClick={() => void revert.run()}
              >
                {say.revertNow}
              </Button>
              <Button onClick={onClose}>{words.common.cancel}</Button>
            </div>
          </>
        )}
      </Loading>
    </Dialog>
  );
}

async function previewOf(domain: string, change: Change, signal: AbortSignal): Promise<Preview> {
  const wanted = revertDraft(change.records);
  if (change.records.length === 0) return { differences: [], later: 0, refusal: undefined };
  const records: readonly KeptRecord[] = await dataOf(
    api.GET('/domains/{domain}/records/', { params: { path: { domain } }, signal }),
  );
  const byId = new Map(records.map((record) => [String(record.id), record]));
  const { draft, conflicts } = rebase(wanted, byId);
  const batch = batchOf(draft);
  let refusal: string | undefined;
  if (conflicts.length === 0 && !isEmptyBatch(batch)) {
    try {
      await sendBatch(domain, batch, { dryRun: true, signal });
    } catch (thrown) {
      const error = asApiError(thrown);
      if (error.isPassing) throw error;
      refusal = error.message;
    }
  }
  return { differences: differencesOf(draft), later: conflicts.length, refusal };
}

// Always shows the unsaved changes: counts, problems, undo, and the button to save.

import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { records } from '../../words/records.ts';
import { countsOf, isEmpty, NO_DRAFT, unfinished } from './draft.ts';
import { saveStateOf } from './save-state.ts';
import type { Checked } from './use-check.ts';
import type { Editor } from './use-editor.ts';
import type { Save } from './use-save.ts';

interface BarProps {
  readonly editor: Editor;
  readonly checked: Checked;
  readonly save: Save;
  /** Number of rows with errors. */
  readonly wrong: number;
  /** Number of rows with errors or conflicts. */
  readonly marked: number;
  readonly onShowWrong: () => void;
}

export function SaveBar({ editor, checked, save, wrong, marked, onShowWrong }: BarProps) {
  const [isDropping, setDropping] = useState(false);
  const say = records;
  const { draft, undo, redo, conflicts } = editor;
  if (isEmpty(draft) && undo === undefined && redo === undefined) return null;
  const { state, canSave } = saveStateOf({
    draft,
    checkedDraft: checked.of,
    error: checked.error,
    isUnanswered: save.isUnanswered,
    wrong,
    conflicts: conflicts.length,
  });
  const idle = unfinished(draft).length;
  return (
    <section class="rec-bar" aria-label={say.bar}>
      <div class="rec-bar-says" role="status">
        <strong>{isEmpty(draft) ? say.noChanges : say.counts(countsOf(draft))}</strong>{' '}
        {state === 'wrong' && (
          <Button kind="bare" onClick={onShowWrong}>
            {say.wrongRows(marked)}
          </Button>
        )}
        {state === 'failed' && <span class="problem">{checked.error?.message}</span>}
        {state === 'unfinished' && <span class="quiet">{say.enterValues(idle)}</span>}
        {state === 'checking' && <span class="quiet">{say.checking}</span>}
        {state === 'ready' && (
          <span class="quiet">{idle > 0 ? say.checkedExcept(idle) : say.checkedFine}</span>
        )}
        {checked.of === draft && checked.warnings.length > 0 && (
          <span class="rec-note warn">{say.warned(checked.warnings.length)}</span>
        )}
      </div>
      <div class="row">
        <Button disabled={undo === undefined} onClick={undo} title="Ctrl+Z">
          {say.undo}
        </Button>
        <Button disabled={redo === undefined} onClick={redo} title="Ctrl+Shift+Z">
          {say.redo}
        </Button>
        <Button disabled={isEmpty(draft)} onClick={() => setDropping(true)}>
          {say.dropAll}
        </Button>
        <Button kind="main" isBusy={save.isBusy} disabled={!canSave} onClick={() => void save.review()}>
          {say.review}
        </Button>
      </div>
      {isDropping && (
        <Confirm
          title={say.dropAll}
          action={say.dropAll}
          isDanger
          isBusy={false}
          error={undefined}
          onClose={() => setDropping(false)}
          onConfirm={() => {
            editor.change(() => NO_DRAFT);
            setDropping(false);
          }}
        >
          <p>{say.dropAllText(countsOf(draft))}</p>
        </Confirm>
      )}
    </section>
  );
}

// Always shows the unsaved changes: counts, problems, undo, and the button to save.

import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { words } from '../../words/words.ts';
import { countsOf, isEmpty, NO_DRAFT, unfinished } from './draft.ts';
import type { Checked } from './use-check.ts';
import type { Editor } from './use-editor.ts';
import type { Save } from './use-save.ts';

interface BarProps {
  readonly editor: Editor;
  readonly checked: Checked;
  readonly save: Save;
  readonly wrong: number;
  readonly onShowWrong: () => void;
}

export function SaveBar({ editor, checked, save, wrong, onShowWrong }: BarProps) {
  const [isDropping, setDropping] = useState(false);
  const say = words.records;
  const { draft, undo, redo } = editor;
  if (isEmpty(draft) && undo === undefined && redo === undefined) return null;
  const isPending = !isEmpty(draft) && checked.of !== draft && checked.error === undefined;
  const hasAny = !isEmpty({ ...draft, creates: draft.creates.slice(unfinished(draft).length) });
  return (
    <section class="rec-bar" aria-label={say.bar}>
      <div class="rec-bar-says" role="status">
        <strong>{isEmpty(draft) ? say.noChanges : say.counts(countsOf(draft))}</strong>{' '}
        {wrong > 0 ? (
          <Button kind="bare" onClick={onShowWrong}>
            {say.wrongRows(wrong)}
          </Button>
        ) : checked.error !== undefined ? (
          <span class="problem">{checked.error.message}</span>
        ) : (
          !isEmpty(draft) &&
          !save.isUnanswered && <span class="quiet">{isPending ? say.checking : say.checkedFine}</span>
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
        <Button kind="main" isBusy={save.isBusy} disabled={!hasAny} onClick={() => void save.review()}>
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

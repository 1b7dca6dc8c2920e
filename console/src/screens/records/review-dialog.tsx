// Confirms the draft as one change.

import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { records } from '../../words/records.ts';
import { ConflictNote } from './conflict-note.tsx';
import { differencesOf, tally } from './diff.ts';
import { DiffList } from './diff-list.tsx';
import { unfinished } from './draft.ts';
import { readableName } from './punycode.ts';
import type { Checked } from './use-check.ts';
import type { Editor } from './use-editor.ts';
import type { Save } from './use-save.ts';
import { WarningList } from './warning-list.tsx';

interface ReviewDialogProps {
  readonly editor: Editor;
  readonly save: Save;
  readonly checked: Checked;
}

export function ReviewDialog({ editor, save, checked }: ReviewDialogProps) {
  const say = records;
  const { draft, conflicts } = editor;
  const differences = differencesOf(draft);
  const idle = unfinished(draft).length;
  return (
    <Dialog title={say.reviewTitle} isWide onClose={save.close}>
      <Failure error={editor.loaded.error} />
      {conflicts.map((conflict) => (
        <div key={conflict.key}>
          <h3>
            {readableName((conflict.mine ?? conflict.base).name)} {(conflict.mine ?? conflict.base).type}
          </h3>
          <ConflictNote editor={editor} conflict={conflict} />
        </div>
      ))}
      {differences.length === 0 ? (
        <p>{say.nothingToSave}</p>
      ) : (
        <>
          <p>{say.tally(tally(differences))}</p>
          <DiffList differences={differences} label={say.reviewTitle} />
        </>
      )}
      {checked.of === draft && <WarningList warnings={checked.warnings} />}
      {idle > 0 && <Note>{say.idleRows(idle)}</Note>}
      <Failure error={save.error} />
      {save.isUnanswered && !save.isBusy && <Note tone="warn">{say.unanswered}</Note>}
      <div class="row">
        <Button
          kind="main"
          isBusy={save.isBusy}
          disabled={conflicts.length > 0 || differences.length === 0}
          onClick={() => void save.confirm()}
        >
          {save.isUnanswered ? say.sendAgain : say.confirm(differences.length)}
        </Button>
        <Button onClick={save.close}>{say.goOnEditing}</Button>
      </div>
    </Dialog>
  );
}

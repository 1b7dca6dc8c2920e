// Shows that someone else changed a record during an edit, with both values and a choice.

import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/failure.tsx';
import { records } from '../../words/records.ts';
import { type Conflict, keepMine, takeTheirs } from './conflicts.ts';
import { valueText } from './diff-list.tsx';
import type { Editor } from './use-editor.ts';

export function ConflictNote({ editor, conflict }: { readonly editor: Editor; readonly conflict: Conflict }) {
  const say = records;
  const { kind, fields, mine, theirs } = conflict;
  return (
    <Note tone="warn">
      <p>
        <strong>{kind === 'deleted' ? say.conflictDeleted : say.conflictChanged}</strong>
      </p>
      {theirs !== undefined && (
        <dl class="facts">
          {fields.map((field) => [
            <dt key={`${field} t`}>{say.fields[field]}</dt>,
            <dd key={`${field} d`}>
              {say.nowThere} <code>{valueText(theirs, field)}</code>
              {mine !== null && (
                <>
                  {' '}
                  {say.yours} <code>{valueText(mine, field)}</code>
                </>
              )}
            </dd>,
          ])}
        </dl>
      )}
      <div class="row">
        <Button onClick={() => editor.change((draft) => keepMine(draft, conflict))}>
          {kind === 'deleted' ? say.addAgain : mine === null ? say.deleteAnyway : say.keepMine}
        </Button>
        <Button onClick={() => editor.change((draft) => takeTheirs(draft, conflict))}>
          {kind === 'deleted' ? say.letGo : say.takeTheirs}
        </Button>
      </div>
    </Note>
  );
}

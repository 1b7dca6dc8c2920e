// The buttons of a row: edit and delete, or undo.

import { Button } from '../../parts/button.tsx';
import { records } from '../../words/records.ts';
import { words } from '../../words/words.ts';
import type { RowActions } from './record-row.tsx';
import type { Row } from './rows.ts';

interface RowButtonsProps {
  readonly row: Row;
  readonly canEdit: boolean;
  readonly isManaged: boolean;
  readonly tabIndex: number;
  readonly actions: RowActions;
}

export function RowButtons({ row, canEdit, isManaged, tabIndex, actions }: RowButtonsProps) {
  const { state, typed } = row;
  const say = records;
  const button = (shown: string, label: string, onClick: (row: Row) => void) => (
    <Button kind="bare" tabIndex={tabIndex} aria-label={label} onClick={() => onClick(row)}>
      {shown}
    </Button>
  );
  if (isManaged) return button(say.why, say.whyOf(typed.name, typed.type), actions.open);
  if (!canEdit) return button(say.view, say.viewOf(typed.name, typed.type), actions.open);
  const isKept = state === 'same' || state === 'new';
  return (
    <>
      {state !== 'deleted' && button(say.edit, say.editing(typed.name, typed.type), actions.open)}
      {isKept
        ? button(words.common.delete, say.deleteOf(typed.name, typed.type), actions.remove)
        : button(say.undo, say.undoOf(typed.name, typed.type), actions.undo)}
    </>
  );
}

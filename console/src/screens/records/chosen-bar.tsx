// Actions on the selected rows.

import { Button } from '../../parts/button.tsx';
import { records } from '../../words/records.ts';

interface ChosenProps {
  readonly count: number;
  readonly all: number;
  readonly onAll: () => void;
  readonly onNone: () => void;
  readonly onDelete: () => void;
}

export function ChosenBar({ count, all, onAll, onNone, onDelete }: ChosenProps) {
  const say = records;
  return (
    <div class="row rec-chosen" role="status">
      <strong>{say.chosen(count)}</strong>
      <Button onClick={onAll}>{say.chooseAll(all)}</Button>
      <Button onClick={onNone}>{say.chooseNone}</Button>
      <Button kind="danger" onClick={onDelete}>
        {say.deleteChosen}
      </Button>
    </div>
  );
}

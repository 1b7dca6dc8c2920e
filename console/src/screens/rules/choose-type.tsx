// Chooses the type of a new rule, with an explanation of each.

import { Dialog } from '../../parts/dialog.tsx';
import { rules as text } from '../../words/rules.ts';
import { type RuleType, TYPES } from './rule-fields.ts';

interface ChooseTypeProps {
  readonly onChoose: (type: RuleType) => void;
  readonly onClose: () => void;
}

export function ChooseType({ onChoose, onClose }: ChooseTypeProps) {
  return (
    <Dialog title={text.chooseTitle} onClose={onClose}>
      <ul class="plain rules-types">
        {TYPES.map((type) => (
          <li key={type}>
            <button type="button" onClick={() => onChoose(type)}>
              <strong>{text.types[type]}</strong> <span class="quiet">{text.about[type]}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

// What is wrong, first on the page: each with what to do, and the button where one press mends it.

import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button.tsx';
import { Note } from '../../../parts/failure.tsx';
import { Badge } from '../../../parts/status.tsx';
import { words } from '../../../words/words.ts';
import { ConfirmNode } from './confirm-node.tsx';
import type { Trouble, Weight } from './find-troubles.ts';
import { ReleaseBreaker } from './release-breaker.tsx';
import { adviceOf, titleOf } from './trouble-words.ts';

const TONES: Readonly<Record<Weight, 'bad' | 'warn' | undefined>> = {
  act: 'bad',
  look: 'warn',
  know: undefined,
};
const say = words.operator.trouble;

interface TroubleListProps {
  readonly troubles: readonly Trouble[];
  /** Something could not be asked. */
  readonly isPartial?: boolean;
  readonly onMended: () => void;
}

export function TroubleList({ troubles, isPartial = false, onMended }: TroubleListProps) {
  return (
    <section aria-label={say.title}>
      <h2>{say.title}</h2>
      <p class="only-read" role="status">
        {isPartial ? '' : say.amount(troubles.length)}
      </p>
      {troubles.length > 0 ? (
        <ul class="plain ope-troubles">
          {troubles.map((trouble) => (
            <li key={titleOf(trouble)}>
              <Note tone={TONES[trouble.weight]}>
                <div class="row spread">
                  <h3>{titleOf(trouble)}</h3>
                  <Badge tone={TONES[trouble.weight] ?? ''}>{say[trouble.weight]}</Badge>
                </div>
                <p>{adviceOf(trouble)}</p>
                <Mend trouble={trouble} onMended={onMended} />
              </Note>
            </li>
          ))}
        </ul>
      ) : isPartial ? (
        <p class="quiet">{say.partly}</p>
      ) : (
        <Note tone="good">
          <p>
            <strong>{say.none}</strong> {say.noneText}
          </p>
        </Note>
      )}
    </section>
  );
}

function Mend({ trouble, onMended }: { readonly trouble: Trouble; readonly onMended: () => void }) {
  const [isAsked, setAsked] = useState(false);
  if (trouble.kind !== 'held' && trouble.kind !== 'breaker' && trouble.kind !== 'frozen') return null;
  const close = () => setAsked(false);
  const done = () => {
    close();
    onMended();
  };
  return (
    <p>
      <Button kind="danger" onClick={() => setAsked(true)}>
        {trouble.kind === 'held' ? words.operator.fleet.confirm : words.operator.registries.release}
      </Button>
      {isAsked && trouble.kind === 'held' && (
        <ConfirmNode name={trouble.name} zones={trouble.zones} onDone={done} onClose={close} />
      )}
      {isAsked && (trouble.kind === 'breaker' || trouble.kind === 'frozen') && (
        <ReleaseBreaker
          isFrozen={trouble.kind === 'frozen'}
          parent={trouble.parent}
          onDone={done}
          onClose={close}
        />
      )}
    </p>
  );
}

// Problems at the top of the page, with advice, and a button if one click fixes the problem.

import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button.tsx';
import { Note } from '../../../parts/failure.tsx';
import { Badge } from '../../../parts/status.tsx';
import { operator } from '../../../words/operator.ts';
import { ConfirmNode } from './confirm-node.tsx';
import type { Problem, Weight } from './find-problems.ts';
import { adviceOf, titleOf } from './problem-texts.ts';
import { ReleaseBreaker } from './release-breaker.tsx';

const TONES: Readonly<Record<Weight, 'bad' | 'warn' | undefined>> = {
  act: 'bad',
  look: 'warn',
  know: undefined,
};
const say = operator.problem;

interface ProblemListProps {
  readonly problems: readonly Problem[];
  /** True if some data could not be loaded. */
  readonly isPartial?: boolean;
  readonly hasObservers?: boolean;
  readonly onMended: () => void;
}

export function ProblemList({
  problems,
  isPartial = false,
  hasObservers = false,
  onMended,
}: ProblemListProps) {
  return (
    <section aria-label={say.title}>
      <h2>{say.title}</h2>
      <p class="only-read" role="status">
        {isPartial ? '' : say.amount(problems.length)}
      </p>
      {problems.length > 0 ? (
        <ul class="plain ope-problems">
          {problems.map((problem) => (
            <li key={titleOf(problem)}>
              <Note tone={TONES[problem.weight]}>
                <div class="row spread">
                  <h3>{titleOf(problem)}</h3>
                  <Badge tone={TONES[problem.weight] ?? ''}>{say[problem.weight]}</Badge>
                </div>
                <p>{adviceOf(problem)}</p>
                <Mend problem={problem} onMended={onMended} />
              </Note>
            </li>
          ))}
        </ul>
      ) : isPartial ? (
        <p class="quiet">{say.partly}</p>
      ) : (
        <Note tone="good">
          <p>
            <strong>{say.none}</strong> {say.noneText(hasObservers)}
          </p>
        </Note>
      )}
    </section>
  );
}

function Mend({ problem, onMended }: { readonly problem: Problem; readonly onMended: () => void }) {
  const [isAsked, setAsked] = useState(false);
  if (problem.kind !== 'held' && problem.kind !== 'breaker' && problem.kind !== 'frozen') return null;
  const close = () => setAsked(false);
  const done = () => {
    close();
    onMended();
  };
  return (
    <p>
      <Button kind="danger" onClick={() => setAsked(true)}>
        {problem.kind === 'held' ? operator.fleet.confirm : operator.registries.release}
      </Button>
      {isAsked && problem.kind === 'held' && (
        <ConfirmNode name={problem.name} zones={problem.zones} onDone={done} onClose={close} />
      )}
      {isAsked && (problem.kind === 'breaker' || problem.kind === 'frozen') && (
        <ReleaseBreaker
          isFrozen={problem.kind === 'frozen'}
          parent={problem.parent}
          onDone={done}
          onClose={close}
        />
      )}
    </p>
  );
}

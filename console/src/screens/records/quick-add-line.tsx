// A line for one record as text, with a preview. Enter adds it to the draft.

import { useId, useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { quickAdd as say } from '../../words/quick-add.ts';
import { useDomain } from '../domain/domain-here.ts';
import { partLabel } from './destination-boxes.tsx';
import { fullNameOf } from './owner-name.ts';
import { type QuickLine, type QuickProblem, readQuickLine } from './quick-add.ts';
import { summaryOf } from './summary.ts';
import { ttlText } from './ttl.ts';
import { NEW_RECORD, type Typed } from './typed.ts';
import { isMoreThanLine } from './zone-text.ts';

interface LineProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly onAdd: (typed: Partial<Typed>) => void;
  /** Called with pasted text that is more than one record. */
  readonly onLines: (text: string) => void;
}

export const QUICK_ADD_ID = 'quick-add';

export function QuickAddLine({ text, setText, onAdd, onLines }: LineProps) {
  const { domain } = useDomain();
  const id = useId();
  const [isTried, setTried] = useState(false);
  const [added, setAdded] = useState('');
  const line = readQuickLine(text, domain.name);
  const isWrong = isTried && line !== undefined && 'problem' in line;
  return (
    <form
      class="rec-quick"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (line === undefined || 'problem' in line) return;
        const { record } = line;
        onAdd(record);
        setAdded(say.added(fullNameOf(record.name, domain.name_unicode), record.type));
        setText('');
        setTried(false);
      }}
    >
      <div class="row">
        <input
          id={QUICK_ADD_ID}
          aria-label={say.label}
          dir="ltr"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder={say.placeholder}
          value={text}
          aria-describedby={id}
          aria-invalid={isWrong ? 'true' : undefined}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setTried(false);
            setAdded('');
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData('text/plain') ?? '';
            if (!isMoreThanLine(pasted)) return;
            event.preventDefault();
            onLines(pasted);
          }}
        />
        <Button type="submit">{say.add}</Button>
      </div>
      <p id={id} class={isWrong ? 'problem' : 'hint'} aria-live="polite">
        {line === undefined ? added === '' ? say.hint : added : <Preview line={line} />}
      </p>
    </form>
  );
}

function Preview({ line }: { readonly line: QuickLine }) {
  const { domain } = useDomain();
  if ('problem' in line) return <>{problemText(line.problem)}</>;
  const { record } = line;
  const ttl = record.ttl === '' ? '' : ttlText(record.ttl);
  return (
    <>
      {say.preview}{' '}
      <bdi class="rec-quick-record">
        {fullNameOf(record.name, domain.name_unicode)} <b>{record.type}</b>{' '}
        {summaryOf({ ...NEW_RECORD, ...record })}
      </bdi>{' '}
      {[ttl, record.comment].filter(Boolean).join(' · ')}
    </>
  );
}

function problemText({ kind, text }: QuickProblem): string {
  return say.problems[kind](kind === 'noPart' ? partLabel(text) : text);
}

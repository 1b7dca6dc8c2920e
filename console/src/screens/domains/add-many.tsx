// Adds many domains. Pasted names are validated while typing, and each has its own result. Names that failed stay in the text.

import { api, idempotent } from '../../api/client.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextArea } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { EachProgress } from './each-progress.tsx';
import { parsePastedNames } from './pasted-names.ts';
import { useRunEach } from './use-run-each.ts';

interface Wish {
  readonly text: string;
  readonly mode: 'managed' | 'external';
  readonly scan: boolean;
}

const NOTHING: Wish = { text: '', mode: 'managed', scan: true };
const SHOWN_PROBLEMS = 20;

interface AddManyProps {
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

export function AddMany({ onClose, onAdded }: AddManyProps) {
  const [wish, setWish] = useDraft<Wish>('add-many', NOTHING);
  const run = useRunEach<string>();
  const pasted = parsePastedNames(wish.text);
  const names = pasted.filter(({ problem }) => problem === undefined).map(({ name }) => name);
  const problems = pasted.filter(({ problem }) => problem !== undefined);
  const text = domains.many;
  const start = async () => {
    const { mode, scan } = wish;
    const wrong = problems.filter(({ problem }) => problem !== 'twice').map(({ text }) => text);
    const results = await run.start(names, (name) =>
      api.POST('/domains/', {
        params: idempotent(),
        body: { name, dns_mode: mode, scan: mode === 'managed' && scan, transfer: false },
      }),
    );
    const done = new Set(results.filter(({ error }) => error === undefined).map(({ item }) => item));
    setWish({ ...wish, text: [...names.filter((name) => !done.has(name)), ...wrong].join('\n') });
    if (done.size > 0) onAdded();
  };
  return (
    <Dialog title={text.open} isWide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <TextArea
          label={text.names}
          hint={text.namesHint}
          class="domains-paste"
          spellcheck={false}
          autocapitalize="none"
          disabled={run.isRunning}
          value={wish.text}
          onInput={(event) => setWish({ ...wish, text: event.currentTarget.value })}
        />
        <p class="quiet" role="status">
          {text.judged(names.length, problems.length)}
        </p>
        {problems.length > 0 && (
          <ul class="domains-problems">
            {problems.slice(0, SHOWN_PROBLEMS).map(({ line, text: piece, problem }) => (
              <li key={`${line} ${piece}`}>
                {text.line(line)} <code>{piece}</code>: {problem !== undefined && text.problems[problem]}
              </li>
            ))}
            {problems.length > SHOWN_PROBLEMS && <li>{text.andMore(problems.length - SHOWN_PROBLEMS)}</li>}
          </ul>
        )}
        <SelectField
          label={domains.add.mode}
          value={wish.mode}
          onChange={(event) =>
            setWish({ ...wish, mode: event.currentTarget.value === 'external' ? 'external' : 'managed' })
          }
          choices={(['managed', 'external'] as const).map((value) => ({
            value,
            label: domains.add.modes[value],
          }))}
        />
        {wish.mode === 'managed' && (
          <CheckField
            label={domains.add.scan}
            checked={wish.scan}
            onChange={(event) => setWish({ ...wish, scan: event.currentTarget.checked })}
          />
        )}
        <EachProgress run={run} nameOf={(name) => name} done={domains.many.done} ok={domains.many.ok} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={run.isRunning} disabled={names.length === 0}>
            {text.add(names.length)}
          </Button>
          {run.isRunning ? (
            <Button onClick={run.end}>{domains.stop}</Button>
          ) : (
            <Button onClick={onClose}>{words.common.close}</Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

// Deletes the selected domains after confirmation by typing. Domains that failed stay selected.

import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { type DomainRow, nameInPath } from './domain-row.ts';
import { EachProgress } from './each-progress.tsx';
import { useRunEach } from './use-run-each.ts';

interface DeleteManyProps {
  readonly rows: readonly DomainRow[];
  readonly onClose: () => void;
  readonly onDeleted: (gone: ReadonlySet<number>) => void;
}

const SHOWN = 12;

export function DeleteMany({ rows: chosen, onClose, onDeleted }: DeleteManyProps) {
  const [rows] = useState(chosen);
  const [typed, setTyped] = useState('');
  const run = useRunEach<DomainRow>();
  const text = domains.remove;
  const wanted = rows.length === 1 ? (rows[0]?.name_unicode ?? '') : text.typeMany(rows.length);
  const isOver = run.total > 0 && !run.isRunning;
  const start = async () => {
    const results = await run.start(rows, async (row) => {
      // A name in the path would select the person's own domain with that name.
      if (row.my_role !== 'owner') throw new ApiError(403, { error: text.ownersOnly });
      await api.DELETE('/domains/{domain}', { params: { path: { domain: nameInPath(row) } } });
    });
    onDeleted(new Set(results.filter(({ error }) => error === undefined).map(({ item }) => item.id)));
  };
  return (
    <Dialog title={text.title(rows.length)} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim().toLowerCase() === wanted.toLowerCase()) void start();
        }}
      >
        <p>{text.what}</p>
        <ul class="domains-problems">
          {rows.slice(0, SHOWN).map(({ id, name_unicode }) => (
            <li key={id}>{name_unicode}</li>
          ))}
          {rows.length > SHOWN && <li>{domains.many.andMore(rows.length - SHOWN)}</li>}
        </ul>
        {!isOver && (
          <TextField
            label={words.common.typeToConfirm(wanted)}
            autocomplete="off"
            disabled={run.isRunning}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <EachProgress run={run} nameOf={({ name_unicode }) => name_unicode} done={text.done} ok={text.ok} />
        <div class="row">
          {!isOver && (
            <Button
              type="submit"
              kind="danger"
              isBusy={run.isRunning}
              disabled={typed.trim().toLowerCase() !== wanted.toLowerCase()}
            >
              {text.open}
            </Button>
          )}
          {run.isRunning ? (
            <Button onClick={run.end}>{domains.stop}</Button>
          ) : (
            <Button onClick={onClose}>{isOver ? words.common.close : words.common.cancel}</Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

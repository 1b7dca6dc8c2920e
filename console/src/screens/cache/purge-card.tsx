// Starts a purge and shows its progress.

import { useEffect, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Badge } from '../../parts/status.tsx';
import { cache } from '../../words/cache.ts';
import { useDomain } from '../domain/domain-here.ts';
import { SCOPES, type Scope, stateOf, wishOf } from './purge.ts';

const text = cache;

type Purge = Schemas['Purge'];

const ASK_MS = 1500;

interface PurgeCardProps {
  readonly onBegun: (id: number) => void;
}

export function PurgeCard({ onBegun }: PurgeCardProps) {
  const { name } = useDomain();
  const [scope, setScope] = useState<Scope>('url');
  const [typed, setTyped] = useState('');
  const [isAsked, setAsked] = useState(false);
  const params = { path: { domain: name } };
  const purge = useAction(async () => {
    const { purge: begun } = await dataOf(
      api.DELETE('/domains/{domain}/cache/', { params, body: wishOf(scope, typed) ?? null }),
    );
    setAsked(false);
    onBegun(begun.id);
  });
  const refresh = useAction(async () => {
    const wish = wishOf('url', typed);
    if (wish === undefined || !('url' in wish)) return;
    const { purge: begun } = await dataOf(
      api.POST('/domains/{domain}/cache/refresh', { params, body: wish }),
    );
    onBegun(begun.id);
  });
  const error = purge.error ?? refresh.error;
  const field = scope === 'all' ? '' : scope;
  const problem = error?.of(field);
  return (
    <section class="card">
      <h2>{text.purge}</h2>
      <p>{text.purgeText}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (scope === 'all') setAsked(true);
          else void purge.run();
        }}
      >
        <div class="cache-form">
          <SelectField
            label={text.what}
            choices={SCOPES.map((value) => ({ value, label: text.scopes[value] }))}
            value={scope}
            onChange={(event) => {
              setScope(SCOPES.find((each) => each === event.currentTarget.value) ?? 'url');
              purge.clear();
              refresh.clear();
            }}
          />
          {scope !== 'all' && (
            <TextField
              label={text.labels[scope]}
              hint={text.hints[scope](name)}
              problem={problem}
              required
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </div>
        {!isAsked && <Failure error={error} shownFields={[field]} />}
        <div class="row">
          <Button type="submit" kind={scope === 'all' ? 'danger' : 'main'} isBusy={purge.isBusy}>
            {text.purgeButtons[scope]}
          </Button>
          {scope === 'url' && (
            <Button onClick={() => void refresh.run()} isBusy={refresh.isBusy} disabled={typed.trim() === ''}>
              {text.refresh}
            </Button>
          )}
        </div>
        {scope === 'url' && <p class="quiet">{text.refreshText}</p>}
      </form>
      {isAsked && (
        <Confirm
          title={text.allTitle(name)}
          action={text.purgeButtons.all}
          isDanger
          isBusy={purge.isBusy}
          error={purge.error}
          onConfirm={() => void purge.run()}
          onClose={() => setAsked(false)}
        >
          <p>{text.allText}</p>
        </Confirm>
      )}
    </section>
  );
}

const TONES = { done: 'good', replaced: '', silent: 'warn', going: '' } as const;

/** Shows the progress of a purge until all reachable edges have finished. */
export function PurgeProgress({ id, onDone }: { readonly id: number; readonly onDone: () => void }) {
  const { name } = useDomain();
  const loaded = useLoad<Purge>(`purge ${name} ${id}`, (signal) =>
    dataOf(
      api.GET('/domains/{domain}/cache/purges/{id}', { params: { path: { domain: name, id } }, signal }),
    ),
  );
  const { data, reload, error } = loaded;
  const state = data === undefined ? 'going' : stateOf(data);
  useEffect(() => {
    if (state === 'done') onDone();
    if (state === 'done' || state === 'replaced') return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, ASK_MS);
    return () => clearInterval(timer);
  }, [state, reload]);
  return (
    <section class="card" aria-label={text.progress(id)}>
      <div class="row spread">
        <h2>{text.progress(id)}</h2>
        <Badge tone={TONES[state]}>{text.states[state]}</Badge>
      </div>
      <Failure error={error} onRetry={() => void reload()} />
      {data !== undefined && (
        <>
          <progress
            class="cache-progress"
            max={Math.max(1, data.edges)}
            value={data.done}
            aria-label={text.progress(id)}
          />
          <p role="status">
            {text.doneOf(data.done, data.edges)} {text.stateTexts[state]}
          </p>
          {data.nodes.length > 0 && (
            <ul class="plain cache-nodes">
              {data.nodes.map(({ node, live, done_at: doneAt, error }) => (
                <li key={node}>
                  <span aria-hidden="true">
                    {doneAt !== undefined ? '✓' : error !== undefined ? '≠' : '…'}
                  </span>{' '}
                  <strong>{node}</strong>{' '}
                  <span class="quiet">
                    {doneAt !== undefined
                      ? text.node.done
                      : error !== undefined
                        ? text.node.failed(error)
                        : live
                          ? text.node.going
                          : text.node.silent}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

// Progress and results of one call per domain, failures first.

import { Badge } from '../../parts/status.tsx';
import { domains } from '../../words/domains.ts';
import type { EachRun } from './use-run-each.ts';

interface EachProgressProps<T> {
  readonly run: EachRun<T>;
  readonly nameOf: (item: T) => string;
  readonly done: (good: number, bad: number) => string;
  readonly ok: string;
}

const SHOWN = 500;

export function EachProgress<T>({ run, nameOf, done, ok }: EachProgressProps<T>) {
  if (run.total === 0) return null;
  const failed = run.results.filter(({ error }) => error !== undefined);
  const good = run.results.length - failed.length;
  const shown = [...failed, ...run.results.filter(({ error }) => error === undefined)].slice(0, SHOWN);
  return (
    <div class="stack">
      {run.isRunning && (
        <progress max={run.total} value={run.results.length} aria-label={domains.progressLabel} />
      )}
      <p role="status">
        {run.isRunning ? domains.progress(run.results.length, run.total) : done(good, run.total - good)}
      </p>
      <ul class="plain domains-results">
        {shown.map(({ item, error }) => (
          <li key={nameOf(item)}>
            <Badge tone={error === undefined ? 'good' : 'bad'}>
              {error === undefined ? ok : domains.failed}
            </Badge>
            <span>{nameOf(item)}</span>
            {error !== undefined && <span class="problem">{error.of('name') ?? error.message}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

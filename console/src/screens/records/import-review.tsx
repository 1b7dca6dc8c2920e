// The review of an import: its changes line by line.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { imports } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { tally } from './diff.ts';
import { DiffList } from './diff-list.tsx';
import { importDifferences } from './import-diff.ts';
import type { KeptRecord } from './typed.ts';
import { WarningList } from './warning-list.tsx';

type Parsed = Schemas['ParsedZoneFile'];
type Imported = Schemas['ImportResult'];
const SHOWN = 200;

interface ReviewProps {
  readonly parsed: Parsed;
  /** Parses names without a final dot as full names. Undefined if they were parsed so. */
  readonly onAddDots: (() => void) | undefined;
  readonly onDone: (result: Imported, sentMs: number) => void;
}

export function ImportReview({ parsed, onAddDots, onDone }: ReviewProps) {
  const { name, domain } = useDomain();
  const say = imports;
  const { records, errors, skipped, warnings } = parsed;
  const loaded = useLoad<readonly KeptRecord[]>(`records ${name} for an import`, (signal) =>
    dataOf(api.GET('/domains/{domain}/records/', { params: { path: { domain: name } }, signal })),
  );
  const differences = useMemo(
    () => (loaded.data === undefined ? [] : importDifferences(loaded.data, records, domain.name)),
    [loaded.data, records],
  );
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (loaded.data !== undefined) section.current?.scrollIntoView();
  }, [loaded.data]);
  const key = useRef(idempotent());
  const save = useAction(async () => {
    const sentMs = performance.now();
    const params = { path: { domain: name }, ...key.current };
    onDone(
      await dataOf(
        api.POST('/domains/{domain}/records/import', { params, body: { records: records as never } }),
      ),
      sentMs,
    );
  });
  return (
    <section ref={section} class="rec rec-review" aria-label={say.reviewTitle}>
      <h2>{say.reviewTitle}</h2>
      {errors.length > 0 && (
        <Note tone="bad">
          <p>
            <strong>{say.errors(errors.length)}</strong>
          </p>
          <ul>
            {errors.slice(0, SHOWN).map(({ line, column, error }) => (
              <li key={`${line} ${column}`}>
                {say.place(line, column)}: {error}
              </li>
            ))}
          </ul>
          <More of={errors.length} />
        </Note>
      )}
      <WarningList warnings={warnings} />
      {onAddDots !== undefined && warnings.some(({ code }) => code === 'MISSING_FINAL_DOT') && (
        <div class="row">
          <Button onClick={onAddDots}>{say.addDots}</Button>
        </div>
      )}
      {skipped.length > 0 && (
        <details>
          <summary>{say.skipped(skipped.length)}</summary>
          <ul>
            {skipped.slice(0, SHOWN).map(({ line, name: owner, type, reason }) => (
              <li key={`${line} ${owner} ${type}`}>
                <code>
                  {owner} {type}
                </code>
                : {reason}
              </li>
            ))}
          </ul>
          <More of={skipped.length} />
        </details>
      )}
      <Loading of={loaded}>
        {() =>
          differences.length === 0 ? (
            <Note tone="good">{records.length === 0 ? say.noRecords : say.nothingNew}</Note>
          ) : (
            <>
              <p>{imports.tally(tally(differences))}</p>
              <DiffList differences={differences} label={say.reviewTitle} />
              <Failure error={save.error} />
              <div class="row">
                <Button kind="main" isBusy={save.isBusy} onClick={() => void save.run()}>
                  {say.import(differences.length)}
                </Button>
              </div>
            </>
          )
        }
      </Loading>
    </section>
  );
}

/** Number of lines that are not shown. */
function More({ of }: { readonly of: number }) {
  return of <= SHOWN ? null : <p>{imports.moreLines(of - SHOWN)}</p>;
}

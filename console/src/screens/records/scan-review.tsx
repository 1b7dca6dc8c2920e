// The review of a scan: new records to select, existing ones, and those that cannot be imported.

import { useRef, useState } from 'preact/hooks';
import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { scan } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { readableName } from './punycode.ts';
import { summaryOf } from './summary.ts';
import { typedOf } from './typed.ts';

type Preview = Schemas['ScanPreview'];

interface ScanReviewProps {
  readonly preview: Preview;
  readonly onSaved: (saved: { added: number; changeId?: number; sentMs: number }) => void;
}

export function ScanReview({ preview, onSaved }: ScanReviewProps) {
  const { name } = useDomain();
  const say = scan;
  const fresh = preview.records.filter(({ skipped }) => !skipped);
  const here = preview.records.length - fresh.length;
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const wanted = fresh.filter((_, i) => !left.has(i));
  const key = useRef({ of: '', headers: idempotent() });

  const add = useAction(async () => {
    const sentMs = performance.now();
    const of = [...left].sort().join();
    if (key.current.of !== of) key.current = { of, headers: idempotent() };
    const params = { path: { domain: name }, ...key.current.headers };
    if (left.size === 0) {
      const result = await dataOf(api.POST('/domains/{domain}/records/scan-import', { params }));
      return onSaved({ added: result.created, changeId: result.change_id, sentMs });
    }
    const create = wanted.map(({ name: owner, type, destination, mx_priority, ttl }) => ({
      name: owner,
      type,
      destination,
      ttl,
      ...(mx_priority !== undefined && { mx_priority }),
    }));
    const body = { create: create as never };
    const result = await dataOf(api.PUT('/domains/{domain}/records/batch', { params, body }));
    onSaved({ added: result.created, changeId: result.change_id, sentMs });
  });
  const turn = (index: number, isWanted: boolean) => {
    const next = new Set(left);
    if (isWanted) next.delete(index);
    else next.add(index);
    setLeft(next);
  };

  return (
    <section class="rec" aria-label={say.found(fresh.length)}>
      <h3>{say.found(fresh.length)}</h3>
      <p class="quiet">{say.missing}</p>
      {!preview.complete && (
        <Note tone="warn">
          <p>{say.incomplete}</p>
          <ul>
            {preview.shortfalls.map((shortfall) => (
              <li key={shortfall}>{shortfall}</li>
            ))}
          </ul>
        </Note>
      )}
      {here > 0 && <p>{say.here(here)}</p>}
      {fresh.length > 0 && (
        <>
          <div class="row">
            <Button onClick={() => setLeft(new Set())}>{say.all}</Button>
            <Button onClick={() => setLeft(new Set(fresh.keys()))}>{say.nothing}</Button>
          </div>
          <ul class="plain rec-found">
            {fresh.map((record, i) => (
              <li key={`${record.name} ${record.type} ${record.destination}`}>
                <label>
                  <input
                    type="checkbox"
                    checked={!left.has(i)}
                    onChange={(event) => turn(i, event.currentTarget.checked)}
                  />
                  <span class="rec-found-name">
                    {readableName(record.name)} <b>{record.type}</b>
                  </span>
                  <code>{summaryOf(typedOf(record))}</code>
                  {record.cdn !== undefined && <Badge tone="warn">{say.cdn(record.cdn)}</Badge>}
                  {record.note !== undefined && <span class="quiet">{record.note}</span>}
                </label>
              </li>
            ))}
          </ul>
          <Failure error={add.error} />
          <div class="row">
            <Button
              kind="main"
              isBusy={add.isBusy}
              disabled={wanted.length === 0}
              onClick={() => void add.run()}
            >
              {say.add(wanted.length)}
            </Button>
          </div>
        </>
      )}
      {preview.left_out.length > 0 && (
        <details>
          <summary>{say.leftOut(preview.left_out.length)}</summary>
          <ul>
            {preview.left_out.map(({ name: owner, type, reason }) => (
              <li key={`${owner} ${type} ${reason}`}>
                <code>
                  {readableName(owner)} {type}
                </code>
                : {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

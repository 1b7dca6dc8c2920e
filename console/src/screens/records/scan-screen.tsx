// Finds the records at the domain's current nameservers, with progress and a review, and adds them.

import './records.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { imports, records, scan } from '../../words/records.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { Arrival } from './arrival.tsx';
import { ScanReview } from './scan-review.tsx';

type Preview = Schemas['ScanPreview'];
const LOOK_MS = 1500;

export default function ScanScreen() {
  const { name, domain } = useDomain();
  const say = scan;
  const [preview, setPreview] = useState<Preview>();
  const [error, setError] = useState<ApiError>();
  const [isLooking, setLooking] = useState(false);
  const [saved, setSaved] = useState<{
    readonly added: number;
    readonly changeId?: number;
    readonly sentMs: number;
  }>();
  const ended = useRef(new AbortController());
  useEffect(() => () => ended.current.abort(), []);

  const look = async () => {
    ended.current.abort();
    const mine = new AbortController();
    ended.current = mine;
    setLooking(true);
    setError(undefined);
    setSaved(undefined);
    try {
      await follow(name, setPreview, mine.signal);
    } catch (thrown) {
      if (!mine.signal.aborted) setError(asApiError(thrown));
    }
    if (!mine.signal.aborted) setLooking(false);
  };

  if (!mayDo(domain, 'records.edit')) return <Note>{records.readOnly}</Note>;
  const progress = preview?.progress;
  const isFound = !isLooking && preview?.finished_at !== undefined;
  return (
    <div class="rec">
      <p>
        <Link to={domainPath(name, 'records')}>{imports.back}</Link>
      </p>
      <h2>{say.title}</h2>
      <p>{say.text}</p>
      <div class="row">
        <Button kind={isFound ? undefined : 'main'} isBusy={isLooking} onClick={() => void look()}>
          {isFound ? say.again : say.start}
        </Button>
      </div>
      <Failure error={error} onRetry={() => void look()} />
      {isLooking && (
        <div class="rec-progress" role="status">
          <progress
            {...(progress === undefined ? {} : { max: Math.max(1, progress.of), value: progress.names })}
          />
          <span>
            {progress === undefined
              ? say.starting
              : say.progress(progress.names, progress.of, progress.records)}
          </span>
        </div>
      )}
      {saved !== undefined && (
        <>
          <Note tone="good">{say.added(saved.added)}</Note>
          {saved.changeId !== undefined && (
            <Arrival domain={name} changeId={saved.changeId} sentMs={saved.sentMs} />
          )}
        </>
      )}
      {isFound && saved === undefined && preview !== undefined && (
        <ScanReview preview={preview} onSaved={setSaved} />
      )}
    </div>
  );
}

/** One call waits for the scan, while another polls its progress. */
async function follow(domain: string, tell: (preview: Preview) => void, signal: AbortSignal): Promise<void> {
  const ask = () =>
    dataOf(api.GET('/domains/{domain}/records/scan', { params: { path: { domain } }, signal }));
  let isOver = false;
  const whole = ask().finally(() => {
    isOver = true;
  });
  void whole.catch(() => undefined); // reported below
  while (!isOver && !signal.aborted) {
    await Promise.race([pause(LOOK_MS), whole.catch(() => undefined)]);
    if (isOver || signal.aborted) break;
    const seen = await ask().catch(() => undefined);
    if (seen !== undefined && !signal.aborted) tell(seen);
  }
  let last = await whole;
  while (last.finished_at === undefined && !signal.aborted) {
    tell(last);
    await pause(LOOK_MS);
    last = await ask();
  }
  if (!signal.aborted) tell(last);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

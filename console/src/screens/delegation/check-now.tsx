// The button that starts a check, with its progress and the time of the next automatic check.

import { useEffect, useState } from 'preact/hooks';
import { api, dataOf, idempotent } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { now, Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import type { Progress } from './read-progress.ts';
import { countdown } from './words-of.ts';

const text = delegation.look;
const SECOND_MS = 1000;

interface CheckNowProps {
  readonly lastAt: string | undefined;
  readonly nextAt: string | undefined;
  readonly progress: Progress | undefined;
  readonly onBusy: (isBusy: boolean) => void;
  /** Reloads what the check may have changed. */
  readonly onDone: () => Promise<void>;
}

export function CheckNow({ lastAt, nextAt, progress, onBusy, onDone }: CheckNowProps) {
  const { name, domain } = useDomain();
  const [limitedUntil, setLimitedUntil] = useState(0);
  const [result, setResult] = useState('');
  const isExternal = domain.dns_mode === 'external';
  const params = () => ({ path: { domain: name }, ...idempotent() });
  const check = async () => {
    const { check } = await dataOf(api.POST('/domains/{domain}/ns-check', { params: params() }));
    return delegation.verdicts[check.verdict];
  };
  const verify = async () => {
    const after = await dataOf(api.POST('/domains/{domain}/verify', { params: params() }));
    const { found = 0, asked = 0 } = after.verification ?? {};
    return asked === 0 ? '' : delegation.txt.found(found, asked);
  };
  const look = useAction(async () => {
    setResult('');
    onBusy(true);
    let ended = '';
    try {
      ended = await (isExternal ? verify() : check());
    } finally {
      onBusy(false);
      await onDone();
    }
    setResult(ended);
  });
  const { error } = look;
  const isLimited = error?.status === 429 && error.retryAfter !== undefined;
  useEffect(() => {
    if (isLimited) setLimitedUntil(serverNowMs() + (error?.retryAfter ?? 0) * SECOND_MS);
  }, [error]);
  const wait = useSecondsUntil(limitedUntil);
  const elapsed = useElapsed(look.isBusy);
  const canAsk =
    mayDo(domain, 'domain.settings') &&
    domain.status !== 'disabled' &&
    domain.status !== 'banned' &&
    !(isExternal && domain.status === 'active'); // nothing is left to check
  const isDue = nextAt !== undefined && Date.parse(nextAt) - now.value < 5 * SECOND_MS;
  return (
    <div class="delegation-look">
      <div class="row">
        {canAsk && (
          <Button kind="main" isBusy={look.isBusy} disabled={wait > 0} onClick={() => void look.run()}>
            {look.isBusy ? text.busy : text.button}
          </Button>
        )}
        <span class="quiet">
          {lastAt !== undefined && (
            <>
              {text.last} <Time at={lastAt} />
            </>
          )}
          {lastAt !== undefined && nextAt !== undefined && ' · '}
          {nextAt !== undefined && (
            <>
              {text.next} {isDue ? text.soon : <Time at={nextAt} />}
            </>
          )}
        </span>
      </div>
      <p class="delegation-progress" role="status">
        {look.isBusy ? stepOf(progress) : result === '' ? '' : text.ended(result)}
      </p>
      {look.isBusy && <p class="quiet delegation-elapsed">{text.elapsed(elapsed)}</p>}
      {isLimited ? (
        wait > 0 && <p class="note warn">{text.limited(countdown(wait))}</p>
      ) : (
        <Failure error={error} />
      )}
    </div>
  );
}

function stepOf(progress: Progress | undefined): string {
  if (progress === undefined) return text.began;
  const { zones, servers } = progress;
  return servers.length === 0 ? text.walking(zones) : text.asking(zones.at(-1) ?? '.', servers.length);
}

function useSecondsUntil(atMs: number): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const count = () => setLeft(Math.max(0, Math.ceil((atMs - serverNowMs()) / SECOND_MS)));
    count();
    if (atMs <= serverNowMs()) return;
    const timer = setInterval(count, SECOND_MS);
    return () => clearInterval(timer);
  }, [atMs]);
  return left;
}

function useElapsed(isRunning: boolean): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!isRunning) return;
    const timer = setInterval(() => setSeconds((before) => before + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return seconds;
}

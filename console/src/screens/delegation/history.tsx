// The check history: a strip of periods with status changes, and the log of checks.

import { Arrow } from '../../parts/arrow.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { exact, now, relative, Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import { words } from '../../words/words.ts';
import { placeMoment, placeSpans, spansOf, transitionsOf } from './timeline.ts';
import type { Check } from './use-checks.ts';
import { useLog } from './use-log.ts';

const text = delegation;
const WIDTH = 1000;
const HEIGHT = 40;
const LEAST = 6;

export function History({ name, news }: { readonly name: string; readonly news: number }) {
  const { first, checks, more } = useLog(name, news);
  return (
    <section class="card delegation-history">
      <h2>{text.history.title}</h2>
      <Loading of={first}>
        {() =>
          checks.length === 0 ? (
            <p class="quiet">{text.history.none}</p>
          ) : (
            <>
              <Strip checks={checks} />
              <ol class="plain delegation-log">
                {checks.map((check) => (
                  <Entry key={check.id} check={check} />
                ))}
              </ol>
              <Failure error={more?.error} />
              {more !== undefined && (
                <Button isBusy={more.isBusy} onClick={() => void more.run()}>
                  {words.common.more}
                </Button>
              )}
            </>
          )
        }
      </Loading>
    </section>
  );
}

function toneOf(verdict: string): string {
  return verdict === 'match' ? 'good' : verdict === 'unknown' ? 'silent' : 'bad';
}

function verdictWord(verdict: string): string {
  return text.verdicts[verdict as keyof typeof text.verdicts] ?? verdict;
}

function Strip({ checks }: { readonly checks: readonly Check[] }) {
  const spans = placeSpans(spansOf(checks, now.value), WIDTH, LEAST);
  const transitions = transitionsOf(checks);
  const first = spans[0];
  if (first === undefined) return null;
  const verdicts = words.figures.listed(spans.map(({ verdict }) => verdictWord(verdict)));
  return (
    <>
      <svg
        class="delegation-strip"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text.history.strip(exact(first.fromMs), verdicts)}
      >
        {spans.map(({ id, verdict, x, width, fromMs, toMs }) => (
          <g key={id} class={toneOf(verdict)}>
            {/* Heights differ, too, so that the strip does not depend on colour. */}
            <rect
              x={x}
              width={Math.max(1, width - 1.5)}
              y={toneOf(verdict) === 'good' ? 6 : toneOf(verdict) === 'bad' ? 18 : 28}
              height={toneOf(verdict) === 'good' ? 34 : toneOf(verdict) === 'bad' ? 22 : 12}
            >
              <title>{`${verdictWord(verdict)}: ${exact(fromMs)} – ${exact(toMs)}`}</title>
            </rect>
          </g>
        ))}
        {transitions.map(({ id, atMs, from, to }) => (
          <line key={id} x1={placeMoment(spans, atMs)} x2={placeMoment(spans, atMs)} y1={0} y2={HEIGHT}>
            <title>{`${text.history.became(statusWord(from), statusWord(to))}: ${exact(atMs)}`}</title>
          </line>
        ))}
      </svg>
      <p class="row spread quiet delegation-ends" aria-hidden="true">
        <span>{relative(first.fromMs, now.value)}</span>
        <span>{words.time.now}</span>
      </p>
    </>
  );
}

function statusWord(status: string): string {
  return words.statuses[status as keyof typeof words.statuses] ?? status;
}

function Entry({ check }: { readonly check: Check }) {
  const {
    verdict,
    finished_at: at,
    last_seen_at: last,
    repeated,
    status_before: before,
    status_after: after,
  } = check;
  const isTransition = before !== after;
  return (
    <li class={`delegation-entry ${toneOf(verdict)} ${isTransition ? 'transition' : ''}`}>
      <span class="delegation-when">
        <Time at={at} />
        {repeated > 0 && (
          <span class="quiet">
            {' '}
            {text.history.until} <Time at={last} />
          </span>
        )}
      </span>
      <div>
        <strong>{verdictWord(verdict)}</strong>
        {isTransition && (
          <span class="delegation-became">
            <StatusBadge status={before} /> <Arrow /> <StatusBadge status={after} />
          </span>
        )}
        <span class="quiet">
          {[
            check.current_ns && words.figures.listed(check.current_ns),
            text.history.kinds[check.kind],
            repeated > 0 && text.history.seen(repeated + 1),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
    </li>
  );
}

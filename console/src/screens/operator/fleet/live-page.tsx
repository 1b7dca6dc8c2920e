// Overview of the service: problems, rates of the fleet, waiting jobs, held changes, and failing registries. It refreshes while the
// tab is visible.

import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Link } from '../../../app/place.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { Skeleton } from '../../../parts/loading.tsx';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { count, now } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { Freshness } from '../fresh.tsx';
import { findProblems, isHolding } from './find-problems.ts';
import { jobsIn, sumOfRates, withLook } from './live-figures.ts';
import type { Rates } from './node-rates.ts';
import { ProblemList } from './problem-list.tsx';
import { QueueTable } from './queue-table.tsx';
import { RecentChanges } from './recent-changes.tsx';
import { registryRows } from './registry-rows.ts';
import { RegistryTable } from './registry-table.tsx';
import { useFleet } from './use-fleet.ts';

const say = operator.live;

export default function LivePage() {
  const fleet = useFleet();
  const { nodes, queues, breaker, failed, lookAgain } = fleet;
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.frame.operatorPages.live}</h1>
        <div class="actions">
          <Freshness of={{ ...nodes, error: failed?.error, reload: async () => lookAgain() }} />
        </div>
      </div>
      <Failure error={failed?.error} onRetry={lookAgain} />
      {!fleet.isAsked ? (
        <Skeleton />
      ) : (
        <ProblemList
          problems={findProblems(fleet.state, now.value)}
          isPartial={fleet.isPartial}
          hasObservers={(fleet.vantages.data?.length ?? 0) > 0}
          onMended={lookAgain}
        />
      )}
      <Figures fleet={fleet} />
      <RecentChanges nodes={nodes.data} />
      {breaker.data !== undefined && <FailingRegistries breaker={breaker.data} />}
      {queues.data !== undefined && queues.data.length > 0 && (
        <section>
          <h2>
            <Link to="/operator/queues">{words.frame.operatorPages.queues}</Link>
          </h2>
          <QueueTable queues={queues.data} />
        </section>
      )}
    </div>
  );
}

type Fleet = ReturnType<typeof useFleet>;

function Figures({ fleet: { nodes, queues, breaker, rates } }: { readonly fleet: Fleet }) {
  const looks = useLooks(nodes.data, rates);
  const last = sumOfRates(rates);
  const top = Math.max(1, ...looks.flatMap(({ answered, dropped }) => [answered, dropped]));
  const present = nodes.data?.filter(({ state }) => state !== 'left');
  const live = present?.filter(({ state }) => state === 'live').length;
  const jobs = queues.data && jobsIn(queues.data);
  const holding = breaker.data?.trips.filter(isHolding);
  return (
    <dl class="ope-figures">
      <Rate name={say.answers} of="answered" last={last} looks={looks} top={top} />
      <Rate name={say.drops} of="dropped" last={last} looks={looks} top={top} />
      <Figure name={say.nodes} isWrong={live !== present?.length || live === 0}>
        {live === undefined ? '—' : say.liveOf(live, present?.length ?? 0)}
      </Figure>
      <Figure name={say.waiting}>{jobs === undefined ? '—' : count(jobs.waiting)}</Figure>
      <Figure name={say.dead} isWrong={jobs !== undefined && jobs.dead > 0}>
        {jobs === undefined ? '—' : count(jobs.dead)}
      </Figure>
      <Figure name={say.breaker} isWrong={holding !== undefined && holding.length > 0}>
        {holding === undefined
          ? '—'
          : holding.length === 0
            ? say.flows
            : holding.some(({ frozen_by }) => frozen_by === undefined)
              ? say.holds
              : say.frozen}
      </Figure>
    </dl>
  );
}

interface RateProps {
  readonly name: string;
  readonly of: keyof Rates;
  readonly last: Rates | undefined;
  readonly looks: readonly Rates[];
  /** Upper limit of both charts, so that they can be compared. */
  readonly top: number;
}

function Rate({ name, of, last, looks, top }: RateProps) {
  const values = looks.map((look) => look[of]);
  return (
    <Figure name={name}>
      {last === undefined ? (
        <span class="ope-change quiet">{say.measuring}</span>
      ) : (
        count(Math.round(last[of]))
      )}
      <Sparkline values={values} top={top} label={say.curve(name, count(Math.round(top)))} />
    </Figure>
  );
}

interface FigureProps {
  readonly name: string;
  readonly isWrong?: boolean;
  readonly children: ComponentChildren;
}

function Figure({ name, isWrong = false, children }: FigureProps) {
  return (
    <div class={isWrong ? 'card wrong' : 'card'}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function FailingRegistries({ breaker }: { readonly breaker: NonNullable<Fleet['breaker']['data']> }) {
  const failing = registryRows(breaker).filter(
    ({ parent, condition }) => condition === 'held' || (condition === 'many' && parent !== undefined),
  );
  return (
    <section>
      <h2>
        <Link to="/operator/registries">{words.frame.operatorPages.registries}</Link>
      </h2>
      {failing.length === 0 ? (
        <p class="quiet">{say.noFailing(breaker.checked)}</p>
      ) : (
        <RegistryTable rows={failing} />
      )}
    </section>
  );
}

/** Kept per tab, so that the charts are still there when the person returns to the page. */
let kept: readonly Rates[] = [];

function useLooks(nodes: unknown, rates: ReadonlyMap<string, Rates>): readonly Rates[] {
  const seen = useRef<unknown>(undefined);
  if (seen.current !== nodes) {
    seen.current = nodes;
    const sum = sumOfRates(rates);
    if (sum !== undefined) kept = withLook(kept, sum);
  }
  return kept;
}

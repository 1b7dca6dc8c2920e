// The fleet: problems first, then figures of every nameserver and observer.

import { Failure } from '../../../parts/failure.tsx';
import { Skeleton } from '../../../parts/loading.tsx';
import { now } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { Freshness } from '../fresh.tsx';
import { findProblems } from './find-problems.ts';
import { NodeTable } from './node-table.tsx';
import { Observers } from './observers.tsx';
import { ProblemList } from './problem-list.tsx';
import { useFleet } from './use-fleet.ts';

export default function FleetPage() {
  const say = operator;
  const fleet = useFleet();
  const { nodes, vantages, failed, lookAgain } = fleet;
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.frame.operatorPages.fleet}</h1>
        <div class="actions">
          <Freshness of={{ ...nodes, error: failed?.error, reload: async () => lookAgain() }} />
        </div>
      </div>
      <Failure error={failed?.error} onRetry={lookAgain} />
      {!fleet.isAsked && <Skeleton />}
      {fleet.isAsked && (
        <ProblemList
          problems={findProblems(fleet.state, now.value)}
          isPartial={fleet.isPartial}
          hasObservers={(fleet.vantages.data?.length ?? 0) > 0}
          onMended={lookAgain}
        />
      )}
      {nodes.data !== undefined && (
        <section>
          <h2>{say.fleet.nodes}</h2>
          <NodeTable nodes={nodes.data} rates={fleet.rates} />
        </section>
      )}
      {vantages.data !== undefined && <Observers vantages={vantages.data} />}
    </div>
  );
}

// The fleet: what is wrong first, then every nameserver and every observer in figures.

import { useRef } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Failure } from '../../../parts/failure.tsx';
import { now } from '../../../parts/time.tsx';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { findTroubles } from './find-troubles.ts';
import { type Rates, ratesOf } from './node-rates.ts';
import { NodeTable } from './node-table.tsx';
import { Observers } from './observers.tsx';
import { TroubleList } from './trouble-list.tsx';

export default function FleetPage() {
  const say = words.operator;
  const nodes = useLoad('nodes', (signal) => dataOf(admin.GET('/admin/nodes', { signal })));
  const vantages = useLoad('vantages', (signal) => dataOf(admin.GET('/admin/vantages', { signal })));
  const queues = useLoad('queues', (signal) => dataOf(admin.GET('/admin/queues', { signal })));
  const breaker = useLoad('breaker', (signal) => dataOf(admin.GET('/admin/breaker', { signal })));
  const all = [nodes, vantages, queues, breaker];
  const lookAgain = () => {
    for (const each of all) void each.reload();
  };
  useEvery10s(lookAgain);
  const rates = useRates(nodes.data);
  const state = {
    nodes: nodes.data,
    vantages: vantages.data,
    queues: queues.data,
    trips: breaker.data?.trips,
  };
  const failed = all.find(({ error }) => error !== undefined);
  const isAsked = all.every(({ data, error }) => data !== undefined || error !== undefined);
  return (
    <div class="stack">
      <div class="head">
        <h1>{say.pages.fleet}</h1>
        <div class="actions">
          <Freshness of={{ ...nodes, error: failed?.error, reload: async () => lookAgain() }} />
        </div>
      </div>
      <Failure error={failed?.error} onRetry={lookAgain} />
      {!isAsked && (
        <p class="loading" role="status">
          {words.common.loading}
        </p>
      )}
      {isAsked && (
        <TroubleList
          troubles={findTroubles(state, now.value)}
          isPartial={all.some(({ data }) => data === undefined)}
          onMended={lookAgain}
        />
      )}
      {nodes.data !== undefined && (
        <section>
          <h2>{say.fleet.nodes}</h2>
          <NodeTable nodes={nodes.data} rates={rates} />
        </section>
      )}
      {vantages.data !== undefined && <Observers vantages={vantages.data} />}
    </div>
  );
}

type Node = components['schemas']['Node'];

/** What each node does a second, between the last two looks. */
function useRates(nodes: readonly Node[] | undefined): ReadonlyMap<string, Rates> {
  const seen = useRef<{ nodes?: readonly Node[]; rates: ReadonlyMap<string, Rates> }>({ rates: new Map() });
  if (nodes !== undefined && nodes !== seen.current.nodes)
    seen.current = { nodes, rates: ratesOf(seen.current.nodes, nodes) };
  return seen.current.rates;
}

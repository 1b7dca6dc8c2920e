// Loads the state of the fleet every 10 seconds while the page is visible.

import { useRef } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { useEvery10s } from '../fresh.tsx';
import { type Rates, ratesOf } from './node-rates.ts';

export function useFleet() {
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
  const isPartial = all.some(({ data }) => data === undefined);
  return { nodes, vantages, queues, breaker, state, rates, failed, isAsked, isPartial, lookAgain };
}

type Node = components['schemas']['Node'];

/** Rates of each node per second, from the last two samples. */
function useRates(nodes: readonly Node[] | undefined): ReadonlyMap<string, Rates> {
  const seen = useRef<{ nodes?: readonly Node[]; rates: ReadonlyMap<string, Rates> }>({ rates: new Map() });
  if (nodes !== undefined && nodes !== seen.current.nodes)
    seen.current = { nodes, rates: ratesOf(seen.current.nodes, nodes) };
  return seen.current.rates;
}

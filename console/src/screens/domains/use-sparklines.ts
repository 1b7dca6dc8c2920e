// Queries of the last 24 hours for the domains on the page. The list does not wait for them.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import type { DomainRow } from './domain-row.ts';

export interface Queries {
  readonly counts: readonly number[];
  readonly total: number;
}

export interface Sparklines {
  /** By domain id. */
  readonly byId: ReadonlyMap<number, Queries>;
  readonly isAway: boolean;
}

const AT_ONCE = 100;

export function useSparklines(rows: readonly DomainRow[] | undefined): Sparklines {
  const names = (rows ?? []).slice(0, AT_ONCE).map(({ name }) => name);
  const loaded = useLoad(`sparklines ${names.join()}`, async (signal) => {
    if (names.length === 0) return new Map<number, Queries>();
    const answer = await dataOf(
      api.GET('/analytics/dns', { params: { query: { domains: names.join(), period: '24h' } }, signal }),
    );
    const lines = 'domains' in answer ? answer.domains : [];
    return new Map<number, Queries>(lines.map(({ id, counts, total }) => [id, { counts, total }]));
  });
  return { byId: loaded.data ?? new Map(), isAway: loaded.error !== undefined };
}

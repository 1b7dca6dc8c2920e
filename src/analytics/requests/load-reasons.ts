// Why requests failed, as the edges told it.

import { type AskedRequests, type Asking, ask, conditionOf, valuesOf } from './asked-requests.ts';
import { chooseTable } from './choose-table.ts';

interface FailedRequests {
  readonly reason: string;
  readonly requests: number;
}

/** The most frequent first. Reasons are a closed list, so there are few rows. */
export async function loadReasons(
  asking: Asking,
  asked: AskedRequests,
  bucket: 'hour' | 'day',
): Promise<FailedRequests[]> {
  const table = await chooseTable(asking, asked, bucket === 'day' ? 'values_daily' : 'requests');
  const count = table === 'requests' ? 'count()' : 'sum(count)';
  const rows = await ask<{ reason: string; n: number | string }>(
    asking,
    `select reason, ${count} as n from ${table}
     where ${conditionOf(table, asked)} and reason <> '' group by reason order by n desc, reason`,
    valuesOf(asked),
  );
  return rows.map(({ reason, n }) => ({ reason, requests: Number(n) }));
}

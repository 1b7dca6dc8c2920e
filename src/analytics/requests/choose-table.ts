// From which table a question is answered: a rollup, or the raw lines where no rollup tells what is asked. Rollups count hosts without a
// record of their own under a wildcard (`*.shop.example`).

import {
  type AskedRequests,
  type AskedTable,
  type Asking,
  ask,
  conditionOf,
  valuesOf,
} from './asked-requests.ts';

/** `names`: the answer names hosts. */
export async function chooseTable(
  asking: Asking,
  asked: AskedRequests,
  rollup: AskedTable,
  { names = false } = {},
): Promise<AskedTable> {
  const { host, path } = asked;
  if (rollup === 'requests') return rollup;
  if (rollup === 'uris_daily') return host === undefined ? rollup : 'requests';
  if (path !== undefined) return 'requests';
  if (host === undefined && !names) return rollup;
  return (await hasWildcards(asking, asked, rollup, names)) ? 'requests' : rollup;
}

/** Whether hosts of the question may be counted under a wildcard beside others. All below one are told by it, too. */
async function hasWildcards(
  asking: Asking,
  { host, ...asked }: AskedRequests,
  rollup: AskedTable,
  names: boolean,
): Promise<boolean> {
  const above = names || host === undefined ? '' : 'and endsWith({host:String}, substring(host, 2))';
  const rows = await ask(
    asking,
    `select 1 from ${rollup} where ${conditionOf(rollup, asked)} and startsWith(host, '*.') ${above} limit 1`,
    { ...valuesOf(asked), ...(host !== undefined && { host: host.host }) },
  );
  return rows.length > 0;
}

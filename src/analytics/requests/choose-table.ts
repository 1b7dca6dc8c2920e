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

/** The smallest of the tables that tell hosts. */
const HOSTS = 'requests_hourly';

/** `names`: the answer names hosts. */
export async function chooseTable(
  asking: Asking,
  asked: AskedRequests,
  rollup: AskedTable,
  { names = false } = {},
): Promise<AskedTable> {
  const { host, path } = asked;
  if (rollup === 'requests') return rollup;
  if (path !== undefined && rollup !== 'uris_daily') return 'requests';
  if (host === undefined && !names) return rollup;
  return (await hasWildcards(asking, asked, names)) ? 'requests' : rollup;
}

/** Whether hosts of the question may be counted under a wildcard together with others. */
async function hasWildcards(
  asking: Asking,
  { host, domainId, from, until }: AskedRequests,
  names: boolean,
): Promise<boolean> {
  const window = { domainId, from, until };
  // What is counted under a wildcard that is below the host is all the host's.
  const above = names || host === undefined ? '' : 'and endsWith({host:String}, substring(host, 2))';
  const rows = await ask(
    asking,
    `select 1 from ${HOSTS} where ${conditionOf(HOSTS, window)} and startsWith(host, '*.') ${above} limit 1`,
    { ...valuesOf(window), ...(host !== undefined && { host: host.host }) },
  );
  return rows.length > 0;
}

// What a question about requests is narrowed by, as SQL of ClickHouse, and the table that it is asked of.

import type { Narrowing } from '../../edge/analytics/narrowing.ts';
import type { Analytics } from '../open-analytics.ts';

type Values = Parameters<Analytics['query']>[1];

export interface AskedRequests extends Narrowing {
  readonly domainId: number;
  readonly from: Date;
  readonly until: Date;
}

/** A store, and what one question may cost. */
export interface Asking {
  readonly store: Pick<Analytics, 'query'>;
  readonly seconds: number;
  readonly signal?: AbortSignal;
}

/** Each table has its own column of the time. */
const TIMES = {
  requests: `at >= toDateTime64({from:UInt32}, 3, 'UTC') and at < toDateTime64({until:UInt32}, 3, 'UTC')`,
  requests_hourly: `hour >= toDateTime({from:UInt32}, 'UTC') and hour < toDateTime({until:UInt32}, 'UTC')`,
  values_daily: `day >= toDate(toDateTime({from:UInt32}, 'UTC')) and day < toDate(toDateTime({until:UInt32}, 'UTC'))`,
  uris_daily: `day >= toDate(toDateTime({from:UInt32}, 'UTC')) and day < toDate(toDateTime({until:UInt32}, 'UTC'))`,
} as const;

export type AskedTable = keyof typeof TIMES;

/** Tables that tell the paths. */
const HAS_PATHS: readonly AskedTable[] = ['requests', 'uris_daily'];
/** The host of a line as its visitor asked for it; the column `host` has the name that it counts under. */
export const ASKED_HOST = `if(asked_host = '', host, asked_host)`;

/** What follows `where`. */
export function conditionOf(table: AskedTable, { host, path }: AskedRequests): string {
  if (path !== undefined && !HAS_PATHS.includes(table)) throw new Error(`${table} tells no paths`);
  return [
    'domain_id = {domainId:UInt64}',
    TIMES[table],
    ...(host === undefined ? [] : [ofHost(table, host)]),
    ...(path === undefined ? [] : ['startsWith(uri, {path:String})']),
  ].join(' and ');
}

function ofHost(table: AskedTable, { kind }: NonNullable<Narrowing['host']>): string {
  const is = (column: string) =>
    kind === 'host'
      ? `${column} = {host:String}`
      : `(${column} = {host:String} or endsWith(${column}, {below:String}))`;
  return table === 'requests' ? `(asked_host = '' and ${is('host')} or ${is('asked_host')})` : is('host');
}

export function valuesOf({ domainId, from, until, host, path }: AskedRequests): Values {
  return {
    domainId,
    from: from.getTime() / 1000,
    until: until.getTime() / 1000,
    ...(host !== undefined && { host: host.host }),
    ...(host?.kind === 'below' && { below: `.${host.host}` }),
    ...(path !== undefined && { path }),
  };
}

/** The rows of a select; whole numbers of 64 bits may come as text. */
export async function ask<R>({ store, seconds, signal }: Asking, sql: string, values: Values): Promise<R[]> {
  return await store.query<R>(sql, values, { seconds, ...(signal && { signal }) });
}

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

// Builds the SQL conditions of a query about requests, and chooses the table to query.

import type { Narrowing } from '../../edge/analytics/narrowing.ts';
import type { Analytics } from '../open-analytics.ts';

type Values = Parameters<Analytics['query']>[1];

export interface AskedRequests extends Narrowing {
  readonly domainId: number;
  readonly from: Date;
  readonly until: Date;
}

/** A store, and the limits of one query. */
export interface Asking {
  readonly store: Pick<Analytics, 'query'>;
  readonly seconds: number;
  readonly signal?: AbortSignal;
}

/** The time column of each table. */
const TIMES = {
  requests: `at >= toDateTime64({from:UInt32}, 3, 'UTC') and at < toDateTime64({until:UInt32}, 3, 'UTC')`,
  requests_hourly: `hour >= toDateTime({from:UInt32}, 'UTC') and hour < toDateTime({until:UInt32}, 'UTC')`,
  values_daily: `day >= toDate(toDateTime({from:UInt32}, 'UTC')) and day < toDate(toDateTime({until:UInt32}, 'UTC'))`,
  uris_daily: `day >= toDate(toDateTime({from:UInt32}, 'UTC')) and day < toDate(toDateTime({until:UInt32}, 'UTC'))`,
} as const;

export type AskedTable = keyof typeof TIMES;

/** Tables that have paths. */
const HAS_PATHS: readonly AskedTable[] = ['requests', 'uris_daily'];
/** The host that the visitor requested. The column `host` has the name that it is counted under. */
export const ASKED_HOST = `if(asked_host = '', host, asked_host)`;

/** Returns the conditions after `where`. */
export function conditionOf(table: AskedTable, { host, path }: AskedRequests): string {
  if (path !== undefined && !HAS_PATHS.includes(table)) throw new Error(`${table} has no paths`);
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

/** Returns the rows of a select. 64-bit integers may be texts. */
export async function ask<R>({ store, seconds, signal }: Asking, sql: string, values: Values): Promise<R[]> {
  return await store.query<R>(sql, values, { seconds, ...(signal && { signal }) });
}

/** The smallest table that has hosts. */
const HOSTS = 'requests_hourly';

/** `names` is true if the result contains host names. */
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

/** True if hosts of the query may be counted under a wildcard together with others. */
async function hasWildcards(
  asking: Asking,
  { host, domainId, from, until }: AskedRequests,
  names: boolean,
): Promise<boolean> {
  const window = { domainId, from, until };
  // Everything that is counted under a wildcard below the host belongs to the host.
  const above = names || host === undefined ? '' : 'and endsWith({host:String}, substring(host, 2))';
  const rows = await ask(
    asking,
    `select 1 from ${HOSTS} where ${conditionOf(HOSTS, window)} and startsWith(host, '*.') ${above} limit 1`,
    { ...valuesOf(window), ...(host !== undefined && { host: host.host }) },
  );
  return rows.length > 0;
}

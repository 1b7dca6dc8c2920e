import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Analytics, AnalyticsFault } from '../../../src/analytics/open-analytics.ts';
import { askStore } from '../../../src/api/analytics/ask-store.ts';
import { turnsOf } from '../../../src/api/analytics/store-turns.ts';
import { Problem } from '../../../src/api/answers/problem.ts';
import { NO_REQUESTS } from '../../support/analytics/no-requests.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

type Answering = Analytics['query'];
let answering: Answering;
/** The signals and time limits of all queries that were started. */
let begun: (AbortSignal | undefined)[] = [];
let allowed: number[] = [];
const store: Analytics = {
  ...NO_REQUESTS,
  query: (sql, values, options) => {
    begun.push(options.signal);
    allowed.push(options.seconds);
    return answering(sql, values, options);
  },
};

const api = ownApi(() => startTestApi({ analytics: store }));
beforeAll(async () => {
  await api.makeDomain('asked.test');
});
beforeEach(() => {
  begun = [];
  allowed = [];
  api.logged.length = 0;
});

const ask = (as = 'owner') => api.ask('GET', '/analytics/summary?domain=asked.test', { as });
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const fails = (kind: AnalyticsFault['kind']): Answering => {
  return () => Promise.reject(new AnalyticsFault(kind, 'clickhouse: table x on 10.0.0.1'));
};

describe('an error of the analytics store', () => {
  it.each([
    'away',
    'slow',
    'refused',
  ] as const)('(%s) is a 500 that tells nothing of the inside', async (kind) => {
    answering = fails(kind);
    const { status, body, headers } = await ask();
    expect([status, body]).toEqual([500, { error: 'query failed' }]);
    expect(api.logged.find(({ level }) => Number(level) >= 40)?.reqId).toBe(headers['x-request-id']);
    const levels = api.logged.filter(({ level }) => Number(level) >= 40).map(({ level }) => level);
    expect(levels).toEqual([kind === 'refused' ? 50 : 40]); // a refused query is a bug
    expect(turnsOf(store).running).toBe(0);
  });

  it('is a 503 if the store has never responded', async () => {
    answering = fails('absent');
    expect((await ask()).status).toBe(503);
  });

  it('is rethrown if it comes from Zonefleet itself', async () => {
    answering = () => Promise.reject(new TypeError('a bug'));
    expect((await ask()).body).toEqual({ error: 'internal error' });
    expect(turnsOf(store).running).toBe(0);
  });
});

const HANGS: Answering = (_sql, _values, { signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** A call as the server creates it. Its client can disconnect. */
function call(gone: AbortSignal, accountId = 1) {
  const log = { warn: () => {}, error: () => {} };
  return {
    api: { analytics: store },
    caller: { account: { id: accountId } },
    domain: { id: accountId },
    gone,
    log,
  } as never;
}
const question = ({ signal, seconds }: { signal?: AbortSignal; seconds: number }) =>
  store.query('select 1', {}, { seconds, ...(signal && { signal }) });

describe('the time limit of a query', () => {
  it.each([
    ...['3h', '6h', '12h', '24h', 'nonsense'].map((period) => [period, 10]),
    ['7d', 20],
    ['30d', 45],
  ] as [string, number][])('over %s is %d s, which the store is told', async (period, seconds) => {
    answering = async () => [];
    const sections = ['summary', 'visitors', 'top-uris', 'unreachable-reasons', 'requests-compare'];
    for (const section of [...sections, 'logs', 'top-requests?metric=hosts']) {
      const path = `/analytics/${section}${section.includes('?') ? '&' : '?'}domain=asked.test&period=${period}`;
      expect([section, (await api.ask('GET', path)).status]).toEqual([section, 200]);
    }
    // The comparison needs two queries. Hosts first need one to find out whether any is counted under a wildcard.
    expect([allowed.length, new Set(allowed)]).toEqual([9, new Set([seconds])]);
  });

  it('ends the call and cancels the query if the store hangs', async () => {
    answering = HANGS;
    const answer = await askStore(call(new AbortController().signal), 0, question);
    expect(answer).toBeInstanceOf(Problem);
    expect([(answer as unknown as Problem).status, begun[0]?.aborted]).toEqual([500, true]);
    await until(() => turnsOf(store).running === 0);
  });

  it('includes the wait for a slot', async () => {
    answering = HANGS;
    const stays = new AbortController();
    const others = [1, 2].map(() => askStore(call(stays.signal), 2, question));
    const answer = await askStore(call(new AbortController().signal), 0, question);
    expect([(answer as unknown as Problem).status, begun.length]).toEqual([500, 2]);
    stays.abort();
    await Promise.all(others);
  });
});

describe('a client that disconnects', () => {
  it('has its running query cancelled and its waiting one dropped; the slot is released when the query would have ended', async () => {
    answering = HANGS;
    const caller = new AbortController();
    const asked = [1, 2, 3].map(() => askStore(call(caller.signal, 7), 3, question));
    await until(() => begun.length === 2);
    caller.abort();
    await Promise.all(asked);
    expect(begun.map((signal) => signal?.aborted)).toEqual([false, false]);
    await until(() => begun.every((signal) => signal?.aborted));
    const { running, waiting } = turnsOf(store);
    expect([begun.length, running > 0, waiting]).toEqual([2, true, 0]);
    await until(() => turnsOf(store).running === 0);
  });

  it('releases the slot immediately if the query ends soon', async () => {
    let answer: (rows: never[]) => void = () => {};
    answering = () => new Promise((resolve) => (answer = resolve));
    const caller = new AbortController();
    const asked = askStore(call(caller.signal, 8), 600, question);
    await until(() => begun.length === 1);
    caller.abort();
    await asked;
    answer([]);
    await until(() => turnsOf(store).running === 0);
    expect(begun[0]?.aborted).toBe(false);
  });
});

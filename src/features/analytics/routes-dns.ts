// Routes of the DNS queries answered for domains, for customers and for resellers.

import { z } from 'zod';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import { askStore } from '../../api/analytics/ask-store.ts';
import { forbidden, invalid, notFound, Problem } from '../../api/answers/problem.ts';
import { type ApiCaller, asStoreCaller, mayDo, seesDomain } from '../../api/callers/caller.ts';
import type { Api } from '../../api/calls/call.ts';
import { findVisibleDomain } from '../../api/calls/find-domain.ts';
import { account, domain, route } from '../../api/calls/route.ts';
import { QUERY_DOMAIN } from '../../api/calls/surfaces.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { listDomains } from '../../store/domains/list-domains.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { DnsAnalytics, DnsCounts } from './schema.ts';
import {
  DNS_PERIODS,
  type DnsCount,
  type DnsWindow,
  dnsWindowOf,
  loadDnsCounts,
  loadDnsSparklines,
} from './sql-dns.ts';

const MOST_DOMAINS = 100;
/** Enough for that many names of maximum length. */
const MOST_CHARACTERS = MOST_DOMAINS * 256;
/** A global admin may find several domains for each name. */
const MOST_FOUND = 1000;
/** Time limit of the query. It reads only the rows of the domain, by key. */
const SECONDS = 10;

const PERIOD = z
  .enum(DNS_PERIODS)
  .describe(
    'Default 24h. `1h` is by minute, other periods are by hour or day, in UTC. The last bucket is incomplete.',
  );
type DnsPeriod = z.output<typeof PERIOD>;

const getDnsAnalytics = route(account(), {
  method: 'GET',
  path: '/analytics/dns',
  operationId: 'getDnsAnalytics',
  tag: 'Monitoring',
  summary: 'DNS queries that nameservers answered for a domain, or for up to 100 domains.',
  description:
    'Specify either `domain` or `domains`. Counts are exact, and about two minutes behind. No plan is required, but the permission `analytics.view` in each domain. A domain that the caller cannot see results in a 404 that names it.',
  query: z.object({
    domain: z.string().max(256).optional().describe('The name of the domain.'),
    domains: z
      .string()
      .max(MOST_CHARACTERS)
      .optional()
      .describe(`Up to ${MOST_DOMAINS} names, separated by commas. The response has one line for each.`),
    period: PERIOD.optional(),
  }),
  response: DnsAnalytics,
  statuses: [404],
  async run({ api, caller, query, gone, log }) {
    const { domain, domains, period = '24h' } = query;
    if ((domain === undefined) === (domains === undefined))
      return invalid([{ field: 'domain', error: 'specify either domain or domains' }]);
    const asked =
      domain === undefined
        ? await findAll(api, caller, domains as string)
        : await findOne(api, caller, domain);
    if (asked instanceof Problem) return asked;
    const [first] = asked as [VisibleDomain];
    const by = { api, caller, domain: first, gone, log };
    if (domain !== undefined) return await answerOne(by, period);
    const window = dnsWindowOf(period, Date.now());
    return await askStore(by, SECONDS, (asking) => answerLines(asking, asked, window));
  },
});

/** Returns the counts of one domain. */
async function answerOne(
  call: Parameters<typeof askStore>[0],
  period: DnsPeriod,
): Promise<z.input<typeof DnsCounts> | Problem> {
  const window = dnsWindowOf(period, Date.now());
  return await askStore(call, SECONDS, (asking) => answerCounts(asking, call.domain, window));
}

async function findOne(api: Api, caller: ApiCaller, text: string): Promise<VisibleDomain[] | Problem> {
  const found = await findVisibleDomain(api.db, caller, text, false);
  return found instanceof Problem ? found : judge([found]);
}

async function findAll(api: Api, caller: ApiCaller, list: string): Promise<VisibleDomain[] | Problem> {
  const texts = list.split(',').map((text) => text.trim());
  if (texts.length > MOST_DOMAINS)
    return invalid([{ field: 'domains', error: `at most ${MOST_DOMAINS} domains` }]);
  const names = texts.map((text) => {
    const parsed = parseDomainName(text);
    return parsed.kind === 'problem' ? undefined : parsed.name;
  });
  const known = names.filter((name) => name !== undefined);
  const { items } = await listDomains(
    api.db,
    asStoreCaller(caller),
    { names: known },
    { sort: 'name', descending: false },
    { limit: MOST_FOUND },
  );
  const found: VisibleDomain[] = [];
  for (const [i, name] of names.entries()) {
    const ofName = items.filter((item) => item.name === name);
    const domain = ofName.find(({ accountId }) => accountId === caller.account.id) ?? ofName[0];
    if (domain === undefined || !seesDomain(caller.key, domain.name))
      return notFound(`domain ${(texts[i] as string).slice(0, 256)}`);
    found.push(domain);
  }
  return judge(found);
}

function judge(domains: VisibleDomain[]): VisibleDomain[] | Problem {
  const closed = domains.find(({ myRole }) => !mayDo(myRole, 'analytics.view'));
  return closed === undefined ? domains : forbidden('your role lacks analytics.view');
}

async function answerCounts(asking: Asking, { id }: VisibleDomain, window: DnsWindow) {
  const { counts, nodes, names } = await loadDnsCounts(asking, id, window);
  const { bucket, starts } = window;
  const byBucket: DnsCount[][] = starts.map(() => []);
  for (const each of counts) byBucket[each.bucket]?.push(each);
  const sums = (of: readonly DnsCount[]) => ({
    types: sumBy(of, ({ type }) => (type === 0 ? 'other' : typeMnemonic(type))),
    rcodes: sumBy(of, ({ rcode }) => rcodeMnemonic(rcode)),
  });
  return {
    bucket,
    total: total(counts),
    ...sums(counts),
    nodes: [...nodes],
    names: [...names],
    data: starts.map((ms, i) => {
      const own = byBucket[i] as DnsCount[];
      return { timestamp: new Date(ms).toISOString(), count: total(own), ...sums(own) };
    }),
  };
}

async function answerLines(asking: Asking, domains: readonly VisibleDomain[], window: DnsWindow) {
  const ids = [...new Set(domains.map(({ id }) => id))];
  const lines = await loadDnsSparklines(asking, ids, window);
  return {
    bucket: window.bucket,
    timestamps: window.starts.map((ms) => new Date(ms).toISOString()),
    domains: domains.map(({ id, name }) => {
      const counts = [...(lines.get(id) ?? window.starts.map(() => 0))];
      return { id, domain: printWithoutDot(name), total: counts.reduce((sum, n) => sum + n, 0), counts };
    }),
  };
}

function total(counts: readonly DnsCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function sumBy(counts: readonly DnsCount[], key: (count: DnsCount) => string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const count of counts) sums[key(count)] = (sums[key(count)] ?? 0) + count.count;
  return sums;
}

/** The customers' route also takes many domains by name, so it is not mounted for resellers automatically. */
const getClientsDnsAnalytics = route(domain('analytics.view', { domainIn: 'query' }), {
  method: 'GET',
  path: '/reseller/v1/analytics/dns',
  operationId: 'resellerGetDnsAnalytics',
  tag: "Clients' domains",
  summary: 'DNS queries that nameservers answered for a domain of a client.',
  description: 'Counts are exact, and about two minutes behind. No plan is required.',
  query: z.object({ domain: QUERY_DOMAIN, period: PERIOD.optional() }),
  response: DnsCounts,
  run: async (call) => await answerOne(call, call.query.period ?? '24h'),
});

export const DNS_ROUTES = [getDnsAnalytics];
export const RESELLER_DNS_ROUTES = [getClientsDnsAnalytics];

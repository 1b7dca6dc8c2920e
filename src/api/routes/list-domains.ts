// GET /domains/: every domain that the caller owns, shares or, as a global admin, looks after. Whole lists are streamed,
// with one look for subscriptions per page of domains.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/database.ts';
import type { VisibleDomain } from '../../store/domain.ts';
import { CursorError, type Page, type Paged } from '../../store/list-page.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains as loadPage,
} from '../../store/load-domains.ts';
import { activeSubscriptions } from '../../store/plans.ts';
import { parseDomainName } from '../../zone/domain-name.ts';
import { DNS_MODES, DOMAIN_STATUSES } from '../../zone/domain-status.ts';
import { asStoreCaller, type Caller } from '../caller.ts';
import { linkToNext, MAX_PAGE_ITEMS, PAGE_QUERY } from '../paging.ts';
import { ROLES } from '../permissions.ts';
import { printDomainListItem } from '../print-domain.ts';
import { invalid } from '../problem.ts';
import { accountRoute } from '../route.ts';
import { DomainListItem } from '../schemas/domain-list-item.ts';
import { listText, sortText } from '../schemas/query-text.ts';
import { StreamedArray } from '../stream-array.ts';

const Query = z.object({
  search: z.string().max(253).optional().describe('A part of the name, as A-labels or Unicode.'),
  status: listText(DOMAIN_STATUSES).optional(),
  dns_mode: z.enum(DNS_MODES).optional(),
  role: z.enum(ROLES).optional().describe('What you are to it.'),
  sort: sortText(DOMAIN_SORTS).optional().describe('`-` in front descends. By name unless said.'),
  ...PAGE_QUERY,
});
type DomainQuery = z.output<typeof Query>;

export const listDomains = accountRoute({
  method: 'GET',
  path: '/domains/',
  operationId: 'listDomains',
  tag: 'Domains',
  summary: 'The domains that you own or share.',
  description: 'Keys that are narrowed to some domains see those.',
  query: Query,
  response: z.array(DomainListItem),
  answerHeaders: ['Link', 'X-Total-Count'],
  async run({ api: { db }, caller, query, url, answerHeader }) {
    const asking = asStoreCaller(caller);
    const filter = filterOf(caller, query);
    const order: DomainOrder = {
      sort: query.sort?.column ?? 'name',
      descending: query.sort?.descends ?? false,
    };
    const { limit, cursor, offset = 0, count } = query;
    const load = (page: Page) => loadPage(db, asking, filter, order, page);
    try {
      const from = { offset, ...(cursor !== undefined && { cursor }) };
      const first = await load({ limit: limit ?? MAX_PAGE_ITEMS, ...from });
      if (count) answerHeader('X-Total-Count', await countDomains(db, asking, filter));
      if (limit === undefined) return new StreamedArray(itemsOf(db, first, load));
      if (first.cursor !== undefined) answerHeader('Link', linkToNext(url, first.cursor));
      return await printItems(db, first.items);
    } catch (error) {
      if (!(error instanceof CursorError)) throw error;
      return invalid([{ field: 'cursor', error: 'is not one of this list' }]);
    }
  },
});

function filterOf({ key }: Caller, { search, status, dns_mode, role }: DomainQuery): DomainFilter {
  return {
    // the database need not know how letters beyond ASCII are lowered
    ...(search && { search: search.normalize('NFC').toLowerCase() }),
    ...(status && { statuses: status }),
    ...(dns_mode && { dnsMode: dns_mode }),
    ...(role && { role }),
    ...(key.domains && { names: key.domains.flatMap(namesOf) }),
  };
}

function namesOf(text: string): Name[] {
  const parsed = parseDomainName(text);
  return parsed.kind === 'name' ? [parsed.name] : [];
}

/** Of the page and all that follow it. */
async function* itemsOf(
  db: Database,
  first: Paged<VisibleDomain>,
  load: (page: Page) => Promise<Paged<VisibleDomain>>,
) {
  for (let page = first; ; page = await load({ limit: MAX_PAGE_ITEMS, cursor: page.cursor })) {
    yield* await printItems(db, page.items);
    if (page.cursor === undefined) return;
  }
}

async function printItems(db: Database, domains: readonly VisibleDomain[]) {
  if (domains.length === 0) return [];
  const ids = domains.map(({ id }) => id);
  const subscriptions = await activeSubscriptions(db, ids);
  return domains.map((domain) => printDomainListItem(domain, subscriptions.get(domain.id)));
}

// GET /domains/: lists the domains that the caller owns or shares; for global admins, all domains. Whole lists are streamed,
// with one query for the subscriptions of each page.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { loadSsl } from '../../store/certificates/load-ssl.ts';
import type { ListedDomain } from '../../store/domains/domain.ts';
import { SOUGHT_FINDINGS } from '../../store/domains/find-narrowed.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains as loadPage,
} from '../../store/domains/list-domains.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { DNS_MODES, DOMAIN_STATUSES } from '../../zone/domain/domain-status.ts';
import { JsonTexts } from '../answers/stream-array.ts';
import { type ApiCaller, asStoreCaller } from '../callers/caller.ts';
import { ROLES } from '../callers/permissions.ts';
import type { Api } from '../calls/call.ts';
import { account, route } from '../calls/route.ts';
import { answerList, PAGE_QUERY } from '../lists/paging.ts';
import { printDomainListItem } from '../print/print-domain.ts';
import { DomainListItem } from '../schemas/domain-list-item.ts';
import { listText, sortText } from '../schemas/query-text.ts';

const Query = z.object({
  search: z.string().max(253).optional().describe('A part of the name, as A-labels or Unicode.'),
  status: listText(DOMAIN_STATUSES).optional(),
  dns_mode: z.enum(DNS_MODES).optional(),
  finding: z.enum(SOUGHT_FINDINGS).optional().describe('The code of a finding that it shows.'),
  role: z.enum(ROLES).optional().describe('What you are to it.'),
  sort: sortText(DOMAIN_SORTS).optional().describe('`-` in front descends. By name unless said.'),
  ...PAGE_QUERY,
});
type DomainQuery = z.output<typeof Query>;

export const listDomains = route(account(), {
  method: 'GET',
  path: '/domains/',
  operationId: 'listDomains',
  tag: 'Domains',
  summary: 'The domains that you own or share.',
  description: 'A key that is narrowed to some domains sees only those.',
  query: Query,
  response: z.array(DomainListItem),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { sort } = call.query;
    const asking = asStoreCaller(call.caller);
    const filter = filterOf(call.caller, call.query);
    const order: DomainOrder = { sort: sort?.column ?? 'name', descending: sort?.descends ?? false };
    return answerList<ListedDomain, z.input<typeof DomainListItem>>(call, {
      load: (page) => loadPage(db, asking, filter, order, page),
      count: () => countDomains(db, asking, filter),
      print: (domains) => printItems(call.api, domains),
    });
  },
});

function filterOf(
  { key }: ApiCaller,
  { search, status, dns_mode, finding, role }: DomainQuery,
): DomainFilter {
  return {
    // Lowercase here, because the database may not fold letters beyond ASCII.
    ...(search && { search: search.normalize('NFC').toLowerCase() }),
    ...(status && { statuses: status }),
    ...(dns_mode && { dnsMode: dns_mode }),
    ...(finding && { finding }),
    ...(role && { role }),
    ...(key.domains && { names: key.domains.flatMap(namesOf) }),
  };
}

function namesOf(text: string): Name[] {
  const parsed = parseDomainName(text);
  return parsed.kind === 'name' ? [parsed.name] : [];
}

async function printItems({ db, movedGraceMs }: Api, domains: readonly ListedDomain[]): Promise<JsonTexts> {
  if (domains.length === 0) return new JsonTexts([]);
  const ids = domains.map(({ id }) => id);
  const subscriptions = await ownSubscriptions(db, ids);
  const certificates = await loadSsl(db, ids);
  const options = { movedGraceMs };
  const texts = domains.map((domain) =>
    JSON.stringify(
      printDomainListItem(domain, subscriptions.get(domain.id), certificates.get(domain.id), options),
    ),
  );
  return new JsonTexts(texts);
}

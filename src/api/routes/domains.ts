// Lists and creates domains, and lists the nameserver sets to which a domain may be delegated. With a nameserver
// pool, this is the set of the account, which the call assigns if the account has none.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { loadSsl } from '../../store/certificates/load-ssl.ts';
import { accountNameserverSet } from '../../store/claims/pool-sets.ts';
import type { ListedDomain } from '../../store/domains/domain.ts';
import { SOUGHT_FINDINGS } from '../../store/domains/find-narrowed.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains as loadPage,
} from '../../store/domains/list-domains.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { DNS_MODES, DOMAIN_STATUSES } from '../../zone/domain/domain-status.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { createOwnDomain } from '../actions/create-domain.ts';
import { Problem } from '../answers/problem.ts';
import { JsonTexts } from '../answers/streams.ts';
import { type ApiCaller, asStoreCaller, domainNamesOf, ROLES } from '../callers/caller.ts';
import { answerList, PAGE_QUERY } from '../calls/answer-list.ts';
import type { Api } from '../calls/call.ts';
import { account, type Route, route } from '../calls/route.ts';
import { printDomain, printDomainListItem, printNewClaim } from '../print/print-domain.ts';
import { Domain, DomainCreate, DomainListItem, NameserverSets } from '../schemas/domain.ts';
import { listText, sortText } from '../schemas/fields.ts';

const Query = z.object({
  search: z.string().max(253).optional().describe('Part of the name, as A-labels or Unicode.'),
  status: listText(DOMAIN_STATUSES).optional(),
  dns_mode: z.enum(DNS_MODES).optional(),
  finding: z.enum(SOUGHT_FINDINGS).optional().describe('The code of a finding that the domain has.'),
  role: z.enum(ROLES).optional().describe('Your role in the domain.'),
  sort: sortText(DOMAIN_SORTS)
    .optional()
    .describe('A leading `-` sorts in descending order. Default: by name.'),
  ...PAGE_QUERY,
});
type DomainQuery = z.output<typeof Query>;

const listDomains = route(account(), {
  method: 'GET',
  path: '/domains/',
  operationId: 'listDomains',
  tag: 'Domains',
  summary: 'Lists the domains that you own or that are shared with you.',
  description: 'An API key that is restricted to certain domains lists only those.',
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
  const names = domainNamesOf(key);
  return {
    // Converted to lower case here, because the database may not fold letters beyond ASCII.
    ...(search && { search: search.normalize('NFC').toLowerCase() }),
    ...(status && { statuses: status }),
    ...(dns_mode && { dnsMode: dns_mode }),
    ...(finding && { finding }),
    ...(role && { role }),
    ...(names && { names }),
  };
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

const createDomain = route(account(), {
  method: 'POST',
  path: '/domains/',
  operationId: 'createDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Creates a domain.',
  description:
    'A managed domain starts as `pending`: delegate it to exactly `svc_ns`. It becomes active when its parent zone shows that set, even if other accounts wait for the name. Until a first check finds that the parent names no other servers of this service, only the SOA and NS of its apex are answered (`served`: `apex`), alternating with other accounts that wait. This response does not depend on them. If the domain is in use and already points here, ask the operator to create it. If the parent names other servers of this service, the finding `PRESET_DELEGATION` explains what to change. An external domain starts as `unverified`: publish the TXT record of `verification`. The call refuses public suffixes, names that cannot be delegated, reserved and banned names, more domains than the plan of the account allows, and a name that another account uses here, unless `transfer` is set: then the domain waits for the name. At most 32 domains may wait for one name. If none of them can be replaced, the call is refused with 409 `domain_taken` and `Retry-After`.',
  body: DomainCreate,
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['managed_by_reseller', 'domain_taken', 'plan_limit', 'dnssec_unavailable'],
  async run(call) {
    const { caller, body } = call;
    const created = await createOwnDomain(call, body);
    if (created instanceof Problem) return created;
    call.answerHeader('X-Change-Id', created.changeId);
    call.answerHeader('X-Zone-Serial', created.domain.serial);
    const print = caller.account.isAdmin ? printDomain : printNewClaim;
    return print({ ...created.domain, myRole: 'owner' });
  },
});

const getNameserverSets = route(account(), {
  method: 'GET',
  path: '/domains/ns-sets',
  operationId: 'getNameserverSets',
  tag: 'Domains',
  summary: 'Lists the accepted nameserver sets.',
  description:
    'Delegate a domain to all names of one set and to no other name. If each account has its own set, only that set is listed.',
  response: NameserverSets,
  async run({ api, caller }) {
    const own = await inTransaction(api.db, (trx) => accountNameserverSet(trx, caller.account.id));
    const sets = own === undefined ? (await loadPublishSettings(api.db)).nameserverSets : [own.names];
    return sets.map((set: readonly Name[]) => set.map(printWithoutDot));
  },
});

export const DOMAINS_ROUTES: readonly Route[] = [listDomains, createDomain, getNameserverSets];

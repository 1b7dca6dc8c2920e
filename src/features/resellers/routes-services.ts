// Routes for resellers to buy and cancel services.

import { z } from 'zod';
import { refuseDnssec } from '../../api/actions/refuse-dnssec.ts';
import { domainTaken, invalid, notFound, problem } from '../../api/answers/problem.ts';
import { type ApiCaller, asActor } from '../../api/callers/caller.ts';
import { answerList, PAGE_QUERY, pagesById } from '../../api/calls/answer-list.ts';
import { notOwned } from '../../api/calls/find-domain.ts';
import { domain, reseller, route } from '../../api/calls/route.ts';
import { printCataloguePlan, printSubscription } from '../../api/print/print-plan.ts';
import { integerText, Message } from '../../api/schemas/fields.ts';
import { CataloguePlan } from '../../api/schemas/plan.ts';
import { loadClient } from '../../store/accounts/account-lists.ts';
import { listPlans } from '../../store/accounts/plans.ts';
import { ownSubscriptions, type Subscription } from '../../store/accounts/subscriptions.ts';
import { toldSubscription } from '../../store/audit/audit-notes.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { buyingProblem, chargingOf } from '../money/routes-buying.ts';
import { SubscriptionSwitch } from '../money/schema.ts';
import { NewService, Service } from './schema.ts';
import {
  cancelService,
  changePlan,
  countServices,
  createService,
  listServices,
  type ServiceRow,
} from './sql-services.ts';

const tag = 'Reseller';
const SERVICE = '/reseller/v1/services/{serviceId}';
const UNLESS =
  'If your wallet would fall below its overdraft limit, the response is a 402 `credit_limit_reached` and nothing is written: top up your wallet. Crediting the client does not help.';

const plans = route(reseller(), {
  method: 'GET',
  path: '/reseller/v1/plans',
  operationId: 'listResellerPlans',
  tag,
  summary: 'Plans, with the terms that you can buy for clients and their prices.',
  response: z.array(CataloguePlan),
  run: async ({ api }) => (await listPlans(api.db)).map(printCataloguePlan),
});

const list = route(reseller(), {
  method: 'GET',
  path: '/reseller/v1/services',
  operationId: 'listServices',
  tag,
  summary: 'Domains of your clients, with their subscriptions.',
  description: 'Sorted by number. No prices are shown, as in all data of a client.',
  query: z.object({
    client_id: integerText(1, Number.MAX_SAFE_INTEGER).optional().describe('Only domains of this client.'),
    ...PAGE_QUERY,
  }),
  response: z.array(Service),
  answerHeaders: ['Link', 'X-Total-Count'],
  async run(call) {
    const { api, caller, query } = call;
    const of = { resellerId: caller.account.id, clientId: query.client_id };
    if (of.clientId !== undefined && (await loadClient(api.db, of.resellerId, of.clientId)) === undefined)
      return notOwned();
    return await answerList(call, {
      load: pagesById<ServiceRow>(
        false,
        (page) => listServices(api.db, of, page),
        ({ id }) => id,
      ),
      count: () => countServices(api.db, of),
      async print(rows) {
        const owned = await ownSubscriptions(
          api.db,
          rows.map(({ id }) => id),
        );
        return rows.map(({ id, clientId, domain, status, served }) => {
          const shown = { id, accountId: clientId, name: decodeNameColumn(domain), status, served };
          return printService(shown as ShownDomain, owned.get(id));
        });
      },
    });
  },
});

const create = route(reseller(), {
  method: 'POST',
  path: '/reseller/v1/services',
  operationId: 'createService',
  audit: 'domain.plan',
  tag,
  summary: 'Creates a domain for a client, and buys a term of a plan for it.',
  description: `The domain is created like any other. If one part fails, nothing is written. ${UNLESS}`,
  keptForEver: true,
  body: NewService,
  response: Service,
  problems: ['credit_limit_reached', 'domain_taken', 'plan_limit', 'dnssec_unavailable', 'wrong_state'],
  statuses: [403],
  conflicts: true,
  async run({ api, caller, body, audit }) {
    const { client_id: accountId, dns_mode: dnsMode } = body;
    // Check the client first: a reseller must not learn anything about names with an id that is not its client's.
    if ((await loadClient(api.db, caller.account.id, accountId)) === undefined) return notOwned();
    const parsed = parseDomainName(body.domain);
    if (parsed.kind === 'problem') return invalid([{ field: 'domain', error: parsed.message }]);
    const { name, unicode } = parsed;
    const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
    if (refused !== undefined) return invalid([{ field: 'domain', error: refused.message }]);
    const created = await createService(api.db, {
      resellerId: caller.account.id,
      domain: {
        accountId,
        name,
        unicode,
        dnsMode,
        exempt: false,
        isScanned: true,
        claimsPerAccount: api.claimsPerAccount,
        by: asActor(caller),
        source: 'api',
      },
      isSigned: dnsMode === 'managed' && api.signsNewDomains === true,
      termId: body.plan_term_id,
      ...chargingOf(api),
    });
    switch (created.kind) {
      case 'bought': {
        const { domain, before, subscription } = created;
        const target = { name: printWithoutDot(name) };
        const sides = { before: toldSubscription(before), after: toldSubscription(subscription) };
        audit({ domainId: domain.id, target, ...sides });
        // As for every new claim, the response must not reveal whether other accounts wait for the name.
        const served = domain.status === 'pending' ? 'apex' : domain.served;
        return printService({ ...domain, served }, subscription);
      }
      case 'not_owned':
        return notOwned();
      case 'taken':
      case 'full':
        return domainTaken(created);
      case 'plan_limit':
        return problem('plan_limit', created.message, { limit: created.limit });
      case 'refused':
        return refuseDnssec(created);
      case 'no_account':
      case 'unknown_plan':
        throw new Error(created.message);
      default:
        return buyingProblem(created);
    }
  },
});

const get = route(domain('domain.view'), {
  method: 'GET',
  path: SERVICE,
  operationId: 'getService',
  tag,
  summary: 'A domain of a client, with its subscription.',
  response: Service,
  run: async ({ api, domain }) =>
    printService(domain, (await ownSubscriptions(api.db, [domain.id])).get(domain.id)),
});

const change = route(domain('billing'), {
  method: 'POST',
  path: `${SERVICE}/change-plan`,
  operationId: 'changeServicePlan',
  audit: 'domain.plan',
  tag,
  summary: 'Buys another term of a plan for a domain of a client.',
  description: `If paid time is left, the subscription is switched, and the unused time is credited to those who paid for it, the client or you. Otherwise it is a purchase. ${UNLESS}`,
  keptForEver: true,
  body: SubscriptionSwitch,
  response: Service,
  problems: ['credit_limit_reached', 'wrong_state'],
  statuses: [409],
  async run({ api, caller, domain, body, audit }) {
    const order = { termId: body.plan_term_id, ...chargingOf(api) };
    const bought = await changePlan(api.db, { ...owned(caller, domain), ...order });
    if (bought.kind === 'not_owned') return notOwned();
    if (bought.kind !== 'bought') return buyingProblem(bought);
    audit({ before: toldSubscription(bought.before), after: toldSubscription(bought.subscription) });
    return printService(domain, bought.subscription);
  },
});

const cancel = route(domain('billing', { whileDisabled: true }), {
  method: 'DELETE',
  path: SERVICE,
  operationId: 'cancelService',
  audit: 'domain.plan',
  tag,
  summary: "Cancels the subscription of a client's domain immediately.",
  description: 'Nothing is refunded. The domain remains, with the plan `free`.',
  response: Message,
  problems: ['wrong_state'],
  async run({ api, caller, domain, audit }) {
    const cancelled = await cancelService(api.db, owned(caller, domain));
    if (cancelled.kind === 'not_owned') return notOwned();
    if (cancelled.kind === 'absent') return notFound('domain');
    if (cancelled.kind === 'wrong_state') return problem('wrong_state', cancelled.message);
    audit({ before: toldSubscription(cancelled.before), after: toldSubscription(cancelled.after) });
    return { message: 'the service is cancelled' };
  },
});

export const SERVICE_ROUTES = [plans, list, create, get, change, cancel];

function owned({ account }: ApiCaller, { id: domainId, accountId: ownerId }: VisibleDomain) {
  return { resellerId: account.id, domainId, ownerId };
}

type ShownDomain = Pick<VisibleDomain, 'id' | 'accountId' | 'name' | 'status' | 'served'>;

function printService(
  { id, accountId, name, status, served }: ShownDomain,
  subscription: Subscription | undefined,
): z.input<typeof Service> {
  return {
    id,
    client_id: accountId,
    domain_id: id,
    domain: printWithoutDot(name),
    domain_status: status,
    domain_served: served,
    ...(subscription !== undefined && { subscription: printSubscription(subscription, { name }) }),
  };
}

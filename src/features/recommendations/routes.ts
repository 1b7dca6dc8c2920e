// Routes of recommendations (docs/api.md "Recommendations").

import { z } from 'zod';
import { knownTraffic } from '../../api/analytics/known-traffic.ts';
import { notFound } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { domain, route } from '../../api/calls/route.ts';
import { answerDnssec } from '../../api/routes/dnssec.ts';
import { Message } from '../../api/schemas/fields.ts';
import { GB } from '../../billing/quota.ts';
import { areCovered } from '../../edge/certificates/plan-names.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { loadSsl } from '../../store/certificates/load-ssl.ts';
import { countRulesByType } from '../../store/rules/load-rules.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type Recommendation, recommend } from './rules.ts';
import { RecommendationCode, Recommendations } from './schema.ts';
import { dismissRecommendation, loadProxiedNames, loadZoneFacts, withoutDismissed } from './sql.ts';

const tag = 'Monitoring';

const listRecommendations = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/recommendations',
  operationId: 'listRecommendations',
  tag,
  summary: 'Recommended changes to the domain, most severe first.',
  description:
    'Based on the data stored at the moment, including records that were changed just before. A dismissed recommendation is left out until its subject changes.',
  response: Recommendations,
  async run(call) {
    const open = await withoutDismissed(call.api.db, call.domain.id, await find(call));
    return open.map(({ code, severity, message, fix }) => ({ code, severity, message, fix }));
  },
});

const dismiss = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/recommendations/{code}/dismiss',
  operationId: 'dismissRecommendation',
  audit: 'recommendation.dismiss',
  tag,
  summary: 'Dismisses a recommendation.',
  description:
    'It is hidden from all users of the domain until its subject changes, for example the names that it is about.',
  params: z.object({ code: RecommendationCode }),
  response: Message,
  async run(call) {
    const { api, domain, params } = call;
    const found = (await find(call)).find(({ code }) => code === params.code);
    if (found === undefined) return notFound('recommendation');
    await dismissRecommendation(api.db, domain.id, found);
    call.audit({ after: { recommendation: found.code } });
    return { message: 'recommendation dismissed' };
  },
});

type AnyCall = Pick<CallOf<'domain'>, 'api' | 'domain'>;

const ACTIVE = 'active';
/** Findings about the DS records that make resolvers reject the domain now or soon. */
const WRONG_DS = ['DS_OTHER', 'DS_MISTYPED'];

async function find({ api, domain }: AnyCall): Promise<Recommendation[]> {
  const { db } = api;
  const { id, name, plan, recordCount } = domain;
  const isManaged = domain.dnsMode === 'managed';
  const [zone, dnssec, ssl, proxied, rules, traffic] = await Promise.all([
    isManaged ? loadZoneFacts(db, id, name) : undefined,
    answerDnssec(api, domain),
    loadSsl(db, [id]),
    loadProxiedNames(db, id),
    countRulesByType(db, id),
    trafficOf({ api, domain }),
  ]);
  const certificate = ssl.get(id)?.certificate;
  const covered = certificate !== undefined && certificate.notAfter > new Date() ? certificate.names : [];
  const limits = [
    { what: 'records', amount: recordCount, most: plan?.maxRecords ?? 0 },
    ...[...rules].map(([type, amount]) => ({
      what: `${type} rules`,
      amount,
      most: plan?.maxRulesPerSet ?? 0,
    })),
    { what: 'GB of traffic', amount: Math.floor((traffic?.octets ?? 0) / GB), most: plan?.maxTrafficGb ?? 0 },
  ];
  return recommend({
    domain: printWithoutDot(name),
    zone,
    isActive: domain.status === ACTIVE,
    isSigned: dnssec.goal === 'signed',
    wrongDs: dnssec.findings.filter(({ code }) => WRONG_DS.includes(code)).map(({ message }) => message),
    uncovered: proxied.filter((one) => !areCovered([one], covered)),
    hasCertificate: covered.length > 0,
    used: limits,
  });
}

async function trafficOf({ api, domain: { id, plan } }: AnyCall) {
  if (plan === null || plan.maxTrafficGb === null) return undefined; // without a limit, no usage is reported
  const subscriptions = await ownSubscriptions(api.db, [id]);
  return await knownTraffic(api, id, subscriptions.get(id), new Date());
}

export const RECOMMENDATION_ROUTES = [listRecommendations, dismiss];

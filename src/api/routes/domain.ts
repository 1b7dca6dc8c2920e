// Shows, updates, deletes and enables one domain. An update checks against the plan and saves only values that differ
// from the domain, so a response can be sent back even if the plan has changed.

import type { z } from 'zod';
import { GATES } from '../../billing/gates.ts';
import type { Name } from '../../dns/name.ts';
import { changeStatus } from '../../store/change/change-status.ts';
import { deleteDomain as saveDeletion } from '../../store/change/save-domain.ts';
import {
  type DomainUpdate as SavedUpdate,
  updateDomain as saveUpdate,
  type UpdatedDomain,
} from '../../store/change/update-domain.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { judgeExternalName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import { judgePlan } from '../actions/judge-plan.ts';
import { domainTaken, type FieldProblem, invalid, notFound, Problem, problem } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { CallOf } from '../calls/call.ts';
import { domain, type Route, route } from '../calls/route.ts';
import { answerDomain, printDomain, printNewClaim } from '../print/print-domain.ts';
import { Domain, DomainEnable, DomainUpdate } from '../schemas/domain.ts';
import { Message } from '../schemas/fields.ts';

const getDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}',
  operationId: 'getDomain',
  tag: 'Domains',
  summary: 'Returns a domain with its settings and its state.',
  response: Domain,
  run: ({ api, domain }) => answerDomain(api, domain),
});

const deleteDomain = route(domain('domain.delete', { whileDisabled: true }), {
  method: 'DELETE',
  path: '/domains/{domain}',
  operationId: 'deleteDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Deletes a domain with its records.',
  description: 'Its name becomes available immediately. The operator can restore the domain within 30 days.',
  response: Message,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  async run(call) {
    const { api, caller, domain } = call;
    const deleted = await saveDeletion(api.db, {
      domainId: domain.id,
      ownerId: domain.accountId,
      by: asActor(caller),
      source: 'api',
    });
    if (deleted.kind === 'absent') return notFound('domain');
    call.answerHeader('X-Change-Id', deleted.changeId);
    call.answerHeader('X-Zone-Serial', deleted.serial);
    return { message: 'domain deleted' };
  },
});

const enableDomain = route(domain('domain.settings', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/enable',
  operationId: 'enableDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Enables a disabled domain.',
  description:
    'The domain starts over like a new one: as `pending`, or as `unverified` in external mode. If another account uses the name here by now, the call is refused with 409 unless `transfer` is set. Then the domain waits for the name, as with `createDomain`. The limit of waiting domains per account applies here too, and `served` is `apex`, as with `createDomain`.',
  body: DomainEnable.nullish(),
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['wrong_state', 'domain_taken', 'plan_limit'],
  async run(call) {
    const { api, caller, domain, body } = call;
    const changed = await changeStatus(api.db, {
      domainId: domain.id,
      ownerId: domain.accountId,
      event: 'enable',
      exempt: caller.account.isAdmin,
      transfer: body?.transfer ?? false,
      claimsPerAccount: api.claimsPerAccount,
      by: asActor(caller),
      source: 'status',
    });
    return answerUpdated(call, changed, caller.account.isAdmin ? undefined : printNewClaim);
  },
});

type Body = z.output<typeof DomainUpdate>;

const updateDomain = route(domain('domain.settings'), {
  method: 'PUT',
  path: '/domains/{domain}',
  operationId: 'updateDomain',
  audit: 'domain.update',
  tag: 'Domains',
  summary: 'Changes the settings of a domain.',
  description:
    'Fields that are left out stay unchanged. Unknown and read-only fields are refused with a 400 that names them. Changing to external mode: the domain starts over as `unverified`, and its zone is served until its delegation has left. Changing to managed mode: the domain starts over as `pending`, like a new one. All fields of a call are saved in one change, or none are.',
  body: DomainUpdate,
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['wrong_state', 'plan_feature', 'plan_limit', 'domain_taken', 'domain_secondary'],
  async run(call) {
    const { api, caller, domain, body } = call;
    const nameservers = chosenNameservers(domain, body.svc_ns);
    if (nameservers instanceof Problem) return nameservers;
    const nowMs = Date.now();
    const refused = judgeMode(domain, body) ?? judgeDeveloperMode(body, nowMs) ?? judgeSettings(domain, body);
    if (refused !== undefined) return refused;
    const set = {
      ...changedSettings(domain, body),
      ...developerMode(domain, body, nowMs),
      ...(nameservers && { nameservers }),
    };
    if (Object.keys(set).length === 0) {
      call.audit();
      return printDomain(domain, api);
    }
    const before = printDomain(domain, api);
    const { isAdmin } = caller.account;
    const { id: domainId, accountId: ownerId } = domain;
    const order = { domainId, ownerId, set, exempt: isAdmin, by: asActor(caller), source: 'api' } as const;
    const after = answerUpdated(call, await saveUpdate(api.db, order));
    if (!(after instanceof Problem)) call.audit({ before, after });
    return after;
  },
});

/** Returns the changed domain, or the problem if it could not be changed. */
function answerUpdated(
  call: Pick<CallOf<'domain'>, 'api' | 'domain' | 'answerHeader'>,
  updated: UpdatedDomain,
  print = printDomain,
): z.input<typeof Domain> | Problem {
  if (updated.kind === 'absent') return notFound('domain');
  if (updated.kind === 'refused') {
    const { code, message } = updated;
    if (code === 'not_accepted') return invalid([{ field: 'svc_ns', error: message }]);
    if (code === 'plan_limit') return problem(code, message, { limit: updated.limit ?? 0 });
    return code === 'taken' ? domainTaken(updated) : problem(code, message);
  }
  if (updated.changeId !== undefined) {
    call.answerHeader('X-Change-Id', updated.changeId);
    call.answerHeader('X-Zone-Serial', updated.domain.serial);
  }
  return print({ ...updated.domain, myRole: call.domain.myRole }, call.api);
}

/** Returns undefined if the call names no set, or the set that the domain already has. */
function chosenNameservers(
  { nameserverSets }: VisibleDomain,
  texts: readonly string[] | undefined,
): readonly Name[] | Problem | undefined {
  if (texts === undefined) return undefined;
  const names = readNameservers(texts);
  if (names instanceof Problem) return names;
  if (names.length === 0 && nameserverSets.length === 0) return undefined; // unchanged
  const found = findSet(names, nameserverSets);
  if (found === undefined)
    return invalid([{ field: 'svc_ns', error: 'expected one complete set of svc_ns_sets' }]);
  return found === nameserverSets[0] ? undefined : found;
}

/** Returns the names of nameservers, or a problem that lists each invalid text. */
export function readNameservers(texts: readonly string[]): readonly Name[] | Problem {
  const names: Name[] = [];
  const wrong: FieldProblem[] = [];
  for (const [i, text] of texts.entries()) {
    const parsed = parseDomainName(text);
    if (parsed.kind === 'name') names.push(parsed.name);
    else wrong.push({ field: `svc_ns[${i}]`, error: parsed.message });
  }
  return wrong.length > 0 ? invalid(wrong) : names;
}

function judgeSettings({ plan, cacheCapMb, markdownForAgents }: VisibleDomain, body: Body) {
  const { cache_cap_mb: capMb, markdown_for_agents: markdown } = body;
  const differs = capMb !== undefined && capMb !== cacheCapMb;
  const shut = differs ? judgePlan(GATES.cache_cap_mb, plan, capMb) : undefined;
  if (shut !== undefined) return shut;
  return markdown === true && !markdownForAgents ? judgePlan(GATES.markdown_for_agents, plan) : undefined;
}

function judgeMode({ name, dnsMode }: VisibleDomain, body: Body): Problem | undefined {
  if (body.dns_mode !== 'external' || dnsMode === 'external') return undefined;
  const refused = judgeExternalName(name);
  return refused && invalid([{ field: 'dns_mode', error: refused.message }]);
}

const MAX_DEVELOPER_MODE_MS = 86_400_000;

function judgeDeveloperMode({ developer_mode_until: until }: Body, nowMs: number): Problem | undefined {
  if (until === undefined || Date.parse(until) <= nowMs + MAX_DEVELOPER_MODE_MS) return undefined;
  return invalid([{ field: 'developer_mode_until', error: 'expected a time at most 24 hours ahead' }]);
}

/** A time in the past ends the mode. It changes nothing if the mode is off. */
function developerMode(
  { developerModeUntil: before }: VisibleDomain,
  { developer_mode_until: text }: Body,
  nowMs: number,
): Pick<SavedUpdate, 'developerModeUntil'> {
  if (text === undefined) return {};
  const wanted = Date.parse(text) > nowMs ? new Date(text) : null;
  return wanted?.getTime() === before?.getTime() ? {} : { developerModeUntil: wanted };
}

function changedSettings(domain: VisibleDomain, body: Body): SavedUpdate {
  const wanted: { [K in keyof SavedUpdate]: SavedUpdate[K] | undefined } = {
    dnsMode: body.dns_mode,
    cacheL2MaxGb: body.cache_l2_max_gb,
    cacheL2TtlDays: body.cache_l2_ttl_days,
    cacheCapMb: body.cache_cap_mb,
    secNoSniff: body.sec_no_sniff,
    secReferrerPolicy: body.sec_referrer_policy,
    secStripHeaders: body.sec_strip_headers,
    markdownForAgents: body.markdown_for_agents,
    outageAlerts: body.outage_alerts,
    uptimeThresholdPct: body.uptime_threshold_pct,
    uptimeWindowMin: body.uptime_window_min,
    uptimeMinRequests: body.uptime_min_requests,
    uptimeMinActiveMin: body.uptime_min_active_min,
    uptimeRecoverMin: body.uptime_recover_min,
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && value !== domain[name as keyof VisibleDomain],
    ),
  );
}

export const DOMAIN_ROUTES: readonly Route[] = [getDomain, updateDomain, deleteDomain, enableDomain];

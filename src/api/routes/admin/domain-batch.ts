// POST /admin/domains/batch: an operator creates domains for several accounts, each in a transaction of its own.

import type { z } from 'zod';
import { findAccount, loadAccount } from '../../../store/accounts/accounts.ts';
import { takeInDomain } from '../../../store/dnssec/take-in-domain.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { judgeDomainName, parseDomainName } from '../../../zone/domain/domain-name.ts';
import { asActor } from '../../callers/caller.ts';
import type { AdminCall } from '../../calls/call.ts';
import { adminRoute } from '../../calls/route.ts';
import { type DOMAIN_REFUSALS, DomainBatch, DomainBatchResult } from '../../schemas/admin/domain-batch.ts';

export const createDomains = adminRoute({
  method: 'POST',
  path: '/admin/domains/batch',
  operationId: 'adminCreateDomains',
  tag: 'Domains',
  summary: 'Creates domains for accounts.',
  description:
    'Intended for a migration to this service. Each domain is created in a transaction of its own. Domains that operators create are answered whole immediately, unless another account claims the name or has a domain around it: see `served`. With `approve` the first set of our nameservers that the parent shows also proves them, unless another account has the right to that set. A repeated call reports the domains that it finds as `exists`.',
  audit: { inHandler: 'domain.approve' },
  // Each domain is a transaction of its own, so that the names of a call are not locked until its end.
  waits: true,
  body: DomainBatch,
  response: DomainBatchResult,
  async run(call) {
    const ownerOf = findOwners(call.api.db);
    const domains: Result[] = [];
    for (const item of call.body.domains) domains.push(await createOne(call, item, await ownerOf(item)));
    const count = (wanted: Result['outcome']) => domains.filter(({ outcome }) => outcome === wanted).length;
    return { domains, created: count('created'), existing: count('exists'), refused: count('refused') };
  },
});

type Batch = z.output<typeof DomainBatch>;
type Item = Batch['domains'][number];
type Result = z.input<typeof DomainBatchResult>['domains'][number];
type Refusal = (typeof DOMAIN_REFUSALS)[number];

/** Returns a function that finds the account of an item, and looks each account up only once. */
function findOwners(db: Database): (item: Item) => Promise<number | undefined> {
  const found = new Map<string | number, number | undefined>();
  return async ({ user_id: id, user_email: email = '' }) => {
    const key = id ?? email;
    if (!found.has(key)) {
      const account = id === undefined ? await findAccount(db, email) : await loadAccount(db, id);
      found.set(key, account?.id);
    }
    return found.get(key);
  };
}

async function createOne(
  { api, caller, body: { approve, scan } }: AdminCall<unknown, unknown, Batch, undefined>,
  item: Item,
  accountId: number | undefined,
): Promise<Result> {
  const refuse = (code: Refusal, error: string): Result => ({
    name: item.name,
    outcome: 'refused',
    code,
    error,
  });
  const parsed = parseDomainName(item.name);
  if (parsed.kind === 'problem') return refuse('validation_failed', `name: ${parsed.message}`);
  const { name, unicode } = parsed;
  const dnsMode = 'managed';
  const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
  if (refused !== undefined) return refuse('validation_failed', `name: ${refused.message}`);
  if (accountId === undefined) return refuse('unknown_account', 'there is no such account');
  const wanted = {
    accountId,
    name,
    unicode,
    dnsMode,
    exempt: true,
    isApproved: approve,
    isScanned: scan,
    by: asActor(caller),
    source: 'api',
    ...(item.plan !== undefined && { planSlug: item.plan }),
  } as const;
  const taken = await takeInDomain(api.db, wanted, api.signsNewDomains === true ? {} : undefined);
  if (taken.kind === 'created' || taken.kind === 'exists') {
    const { domain, changeId } = taken;
    return {
      name: item.name,
      outcome: taken.kind,
      id: domain.id,
      status: domain.status,
      served: domain.served,
      ...(changeId !== undefined && { change_id: changeId }),
      findings: domain.findings.map(({ code, message }) => ({ code, message })),
    };
  }
  return refuse(REFUSALS[taken.kind === 'refused' ? taken.code : taken.kind], taken.message);
}

type Refused = Exclude<
  Awaited<ReturnType<typeof takeInDomain>>,
  { readonly kind: 'created' } | { readonly kind: 'exists' }
>;

const REFUSALS: Readonly<
  Record<
    Exclude<Refused['kind'], 'refused'> | Extract<Refused, { readonly kind: 'refused' }>['code'],
    Refusal
  >
> = {
  taken: 'domain_taken',
  full: 'domain_taken',
  plan_limit: 'domain_taken',
  no_account: 'unknown_account',
  unknown_plan: 'unknown_plan',
  right_taken: 'right_taken',
  not_ours: 'wrong_state',
  nothing_to_approve: 'wrong_state',
  wrong_state: 'wrong_state',
  validation_failed: 'validation_failed',
  dnssec_busy: 'dnssec_unavailable',
  dnssec_verbatim: 'dnssec_unavailable',
  dnssec_algorithm: 'dnssec_unavailable',
  dnssec_unavailable: 'dnssec_unavailable',
};

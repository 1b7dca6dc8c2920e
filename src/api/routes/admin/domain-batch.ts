// POST /admin/domains/batch: creates domains for several accounts, up to a hundred in one transaction.

import type { z } from 'zod';
import { accountIds } from '../../../store/accounts/accounts.ts';
import { takeInDomain } from '../../../store/dnssec/create-signed-domain.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { judgeDomainName, parseDomainName } from '../../../zone/domain/domain-name.ts';
import { createInGroups } from '../../actions/create-in-groups.ts';
import { asActor } from '../../callers/caller.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, route } from '../../calls/route.ts';
import { type DOMAIN_REFUSALS, DomainBatch, DomainBatchResult } from '../../schemas/admin/domain.ts';

export const createDomains = route(admin, {
  method: 'POST',
  path: '/admin/domains/batch',
  operationId: 'adminCreateDomains',
  tag: 'Domains',
  summary: 'Creates domains for several accounts.',
  description:
    'Intended for migrating to this service. The domains are created in the order of the request, up to a hundred in one transaction. A domain that is refused does not affect the others. If the call fails, repeat it: the groups that were created stay. A new domain is answered completely as soon as it has records, unless the finding `APEX_ONLY` says otherwise: see `served`. Without `approve`, the finding appears if another account has a domain with the same name, or with a name above or below it. With `approve`, it appears only if such a domain above or below is answered completely, or if an operator created an older one above. If the call is repeated, domains that their accounts already have are reported as `exists`.',
  audit: { inHandler: 'domain.approve' },
  // Each group has its own transaction, so that names are not locked until the call ends.
  waits: true,
  body: DomainBatch,
  response: DomainBatchResult,
  async run(call) {
    const { db } = call.api;
    const idOf = accountIds(db);
    const asked: Asked[] = [];
    for (const item of call.body.domains)
      asked.push({ ...item, accountId: await idOf(String(item.user_id ?? item.user_email)) });
    return await createInGroups(asked, {
      db,
      log: call.log,
      create: (trx, item, index) => createOne(call, trx, item, index),
    });
  },
});

type Batch = z.output<typeof DomainBatch>;
type Item = Batch['domains'][number];
type Result = z.input<typeof DomainBatchResult>['domains'][number];
type Refusal = (typeof DOMAIN_REFUSALS)[number];

type BatchCall = CallOf<'admin', unknown, unknown, Batch>;

type Asked = Item & { readonly accountId: number | undefined };

async function createOne(
  { api, caller, body: { approve, scan } }: BatchCall,
  db: Database,
  { accountId, ...item }: Asked,
  index: number,
): Promise<Result> {
  const refuse = (code: Refusal, error: string): Result => ({
    name: item.name,
    outcome: 'refused',
    code,
    error,
  });
  const at = (field: keyof Item) => `domains[${index}].${field}`;
  const parsed = parseDomainName(item.name);
  if (parsed.kind === 'problem') return refuse('validation_failed', `${at('name')}: ${parsed.message}`);
  const { name, unicode } = parsed;
  const dnsMode = 'managed';
  const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
  if (refused !== undefined) return refuse('validation_failed', `${at('name')}: ${refused.message}`);
  if (accountId === undefined) {
    const { user_id: id, user_email: email } = item;
    const [field, given] =
      id === undefined ? (['user_email', `"${email}"`] as const) : (['user_id', id] as const);
    return refuse('unknown_account', `${at(field)}: the account ${given} does not exist`);
  }
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
  const taken = await takeInDomain(db, wanted, api.signsNewDomains === true ? {} : undefined);
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
  if (taken.kind === 'unknown_plan') return refuse('unknown_plan', `${at('plan')}: ${taken.message}`);
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
  dnssec_imported: 'dnssec_unavailable',
  dnssec_unavailable: 'dnssec_unavailable',
};

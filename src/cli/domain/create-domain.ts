// Creates one domain for `domain create`. An operator may create names that contain operator zones or nameservers, and the
// domain is fully served before any check. With `--approve`, any complete set of the fleet's nameservers at the parent proves it.

import type { ChangedBy } from '../../store/accounts/actor.ts';
import { createDomainSigned, takeInDomain } from '../../store/dnssec/create-signed-domain.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { judgeDomainName } from '../../zone/domain/domain-name.ts';
import type { DnsMode } from '../../zone/domain/domain-status.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { done } from './move-domain.ts';

interface CreateOrder extends ChangedBy {
  readonly accountId: number;
  readonly isApproved: boolean;
  readonly dnsMode: DnsMode;
  /** Undefined for the plan of the account, null for no plan. */
  readonly planSlug: string | null | undefined;
  readonly allowReserved: boolean;
  readonly isScanned: boolean;
  /** True if the domain may wait for a name that another account holds. */
  readonly transfer: boolean;
  /** True to sign the domain from the beginning, in managed mode. */
  readonly isSigned: boolean;
}

export async function createDomain(
  db: Database,
  { name, unicode }: Pick<WantedDomain, 'name' | 'unicode'>,
  order: CreateOrder,
): Promise<DomainOutcome> {
  const { allowReserved, planSlug, isSigned, ...rest } = order;
  const refused = judgeDomainName(name, { allowReserved, dnsMode: order.dnsMode });
  if (refused !== undefined) return { kind: 'refused', ...refused };
  const made = { ...rest, name, unicode, exempt: true, ...(planSlug !== undefined && { planSlug }) };
  const signing = isSigned && order.dnsMode === 'managed' ? {} : undefined;
  const came = order.isApproved
    ? await takeInDomain(db, made, signing)
    : await createDomainSigned(db, made, signing);
  if (came.kind === 'created' || came.kind === 'exists') return answered(came, order);
  if (came.kind === 'refused') return { kind: 'refused', code: came.code, message: came.message };
  const field = came.kind === 'unknown_plan' ? 'plan: ' : '';
  return { kind: 'refused', code: came.kind, message: `${field}${came.message}` };
}

/** Lists the findings of a domain that is not fully served. If approval was requested, the command then exits with 1. */
function answered(
  { domain, changeId }: { readonly domain: Domain; readonly changeId: number | undefined },
  { isApproved }: CreateOrder,
): DomainOutcome {
  const { status, served, findings } = domain;
  const isPart = status === 'pending' && served !== 'full';
  return {
    ...done(domain, changeId),
    lines: isPart ? findings.map(({ code, message }) => `  ${code}: ${message}`) : [],
    isNo: isApproved && isPart,
  };
}

// `domain create`, for one name: the operator creates a domain for an account. Names around operator zones and
// nameservers are allowed, and it is answered whole at once; names that no customer can have are refused here too.

import type { ChangedBy } from '../../store/accounts/actor.ts';
import { createDomainSigned } from '../../store/dnssec/create-signed-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { judgeDomainName } from '../../zone/domain/domain-name.ts';
import type { DnsMode } from '../../zone/domain/domain-status.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { done } from './move-domain.ts';

interface CreateOrder extends ChangedBy {
  readonly accountId: number;
  readonly dnsMode: DnsMode;
  /** Undefined: the account's. Null: none. */
  readonly planSlug: string | null | undefined;
  readonly allowReserved: boolean;
  readonly isScanned: boolean;
  /** The domain may wait for a name that another account holds. */
  readonly transfer: boolean;
  /** It is signed from the beginning, if its DNS is here. */
  readonly isSigned: boolean;
}

export async function createDomain(
  db: Database,
  { name, unicode }: WantedDomain,
  order: CreateOrder,
): Promise<DomainOutcome> {
  const { allowReserved, planSlug, isSigned, ...rest } = order;
  const refused = judgeDomainName(name, { allowReserved, dnsMode: order.dnsMode });
  if (refused !== undefined) return { kind: 'refused', ...refused };
  const made = { ...rest, name, unicode, exempt: true, ...(planSlug !== undefined && { planSlug }) };
  const came = await createDomainSigned(db, made, isSigned && order.dnsMode === 'managed' ? {} : undefined);
  if (came.kind === 'created') return done(came.domain, came.changeId);
  if (came.kind === 'refused') return { kind: 'refused', code: came.code, message: came.message };
  return { kind: 'refused', code: came.kind, message: came.message };
}

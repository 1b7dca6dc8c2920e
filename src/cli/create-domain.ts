// `domain create`, for one name: by the operator for an account. Names around operator zones and nameservers are the
// operator's to give, and no preset delegation holds it up; what nobody can have, nobody gets here either.

import type { ChangedBy } from '../store/actor.ts';
import type { Database } from '../store/database.ts';
import { createDomain as saveNewDomain } from '../store/save-domain.ts';
import { judgeDomainName } from '../zone/domain-name.ts';
import type { DnsMode } from '../zone/domain-status.ts';
import type { WantedDomain } from './collect-domain-names.ts';
import { done } from './move-domain.ts';
import type { DomainOutcome } from './work-on-domains.ts';

export interface CreateOrder extends ChangedBy {
  readonly accountId: number;
  readonly dnsMode: DnsMode;
  /** Undefined: the account's. Null: none. */
  readonly planSlug: string | null | undefined;
  readonly allowReserved: boolean;
  readonly isScanned: boolean;
}

export async function createDomain(
  db: Database,
  { name, unicode }: WantedDomain,
  order: CreateOrder,
): Promise<DomainOutcome> {
  const { allowReserved, planSlug, ...rest } = order;
  const refused = judgeDomainName(name, { allowReserved, dnsMode: order.dnsMode });
  if (refused !== undefined) return { kind: 'refused', ...refused };
  const came = await saveNewDomain(db, {
    ...rest,
    name,
    unicode,
    exempt: true,
    ...(planSlug !== undefined && { planSlug }),
  });
  if (came.kind === 'created') return done(came.domain, came.changeId);
  return { kind: 'refused', code: came.kind, message: came.message };
}

// A customer's domain, as used by other modules and the API.

import type { DnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import type { Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import type { Plan } from '../accounts/plans.ts';
import type { Role } from '../postgres/tables/schema.ts';
import type { DomainSettings } from './domain-settings.ts';

/** Suspended by an operator, or by a debt of the wallet that pays for the domain (docs/rules.md "Money"). */
export type SuspendedBy = 'operator' | 'debt';

export interface Domain extends DomainSettings {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
  readonly unicode: string;
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly served: Served;
  /** Null unless the domain is disabled. */
  readonly disabledBy: 'operator' | 'checker' | null;
  readonly suspended: boolean;
  /** The earlier time, if both an operator and a debt suspended the domain. */
  readonly suspendedAt: Date | null;
  readonly suspendedBy: readonly SuspendedBy[];
  readonly serial: number;
  /** Number of records, without managed ones. */
  readonly recordCount: number;
  /** The plan with the overrides of the domain's subscription. */
  readonly plan: Plan | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Time of the deletion. The domain can be restored for 30 days. */
  readonly deletedAt: Date | null;
  readonly pendingSince: Date | null;
  readonly movedSince: Date | null;
  readonly nextCheckAt: Date | null;
  readonly lastManualNsCheckAt: Date | null;
  readonly nsCheckIntervalSeconds: number | null;
  readonly currentNs: readonly Name[] | null;
  /** Time at which the checker disabled the domain. */
  readonly endedAt: Date | null;
  /** The sets that prove the domain, its own first. */
  readonly nameserverSets: readonly (readonly Name[])[];
  /** The time in which the apex of the name shows this claim's nameservers, while several claims wait for the name. */
  readonly nsTurn: { readonly from: Date; readonly until: Date } | null;
  /** Present in external mode, and for a pending domain in managed mode that is offered a TXT record. */
  readonly verification: Verification | null;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly dnssecStatus: DnssecStatus;
}

export interface Verification {
  readonly host: Name;
  readonly value: string;
  /** In managed mode, true if the record was found and counts until `verifiedUntil`. */
  readonly verified: boolean;
  readonly verifiedUntil: Date | null;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  /** Time of the next query for the TXT record; null if none is planned. */
  readonly nextAt: Date | null;
}

/** The part of a domain that guards and the routes of records use. It costs a fifth of the whole domain to load. */
export type DomainHead = Pick<Domain, 'id' | 'accountId' | 'name' | 'status' | 'served' | 'serial' | 'plan'>;

/** A domain with the role that the caller has in it. */
export type Visible<D extends DomainHead> = D & { readonly myRole: Role };
export type VisibleDomain = Visible<Domain>;

export interface ListedDomain extends VisibleDomain {
  /** Time of the last entry in the domain's log of changes. */
  readonly changedAt: Date;
}

export const RESTORABLE_DAYS = 30;

/** Returns the suspension in the form of the audit log. */
export function suspensionOf({ suspended, suspendedBy: by }: Pick<Domain, 'suspended' | 'suspendedBy'>) {
  return { suspended, suspended_by: by };
}

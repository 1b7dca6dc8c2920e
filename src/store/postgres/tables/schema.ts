// The tables for Kysely: `tables.ts`, which `npm run tables` generates from a migrated database, with narrower types
// for some columns. The SQL files of the schema describe the columns (src/features/migrations.ts). 64-bit counters are
// numbers (see `connectionTypes`).

import type { ColumnType } from 'kysely';
import type { Overrides } from '../../../billing/entitlements.ts';
import type { SubscriptionStatus } from '../../../billing/subscription.ts';
import type { WalkFailure } from '../../../checks/delegation/evidence.ts';
import type { Verdict } from '../../../checks/delegation/verdict.ts';
import type { TxtVerdict } from '../../../checks/txt/txt-judgement.ts';
import type { AnchorState } from '../../../checks/validation/roll-anchors.ts';
import type { DnsMode, DomainStatus, Served } from '../../../zone/domain/domain-status.ts';
import type { ApiType } from '../../../zone/records/customer-types.ts';
import type { DB } from './tables.ts';

export type Role = 'owner' | 'admin' | 'editor' | 'viewer';

export type ZoneKind = 'operator' | 'domain';

export type ChangeOperation = 'zone.save' | 'zone.unload';

export type ChangeSource =
  | 'api'
  | 'import'
  | 'scan'
  | 'aname'
  /** Responses to the challenges of a certificate authority. */
  | 'acme'
  | 'cli'
  /** A dynamic update (RFC 2136). */
  | 'update'
  /** The PowerDNS API. */
  | 'pdns'
  | 'revert'
  | 'status'
  | 'migrate'
  /** Scheduled renewal of signatures. */
  | 'signing'
  /** A transfer from a primary. */
  | 'transfer'
  /** Members of a catalog that this fleet produces. */
  | 'catalog'
  | 'demo'
  | 'test';

/** The kind of a change of a domain. */
export type DomainOperation =
  | 'create'
  | 'edit'
  | 'status'
  | 'nameservers'
  | 'settings'
  | 'delete'
  | 'restore'
  | 'move'
  /** The addresses of targets of ANAME records changed. */
  | 'addresses'
  | 'rules'
  /** A step of the domain's keys: it is signed, no longer signed, or signed with other keys. */
  | 'dnssec';

/** `token`: a machine token of a reseller. `tsig`: a TSIG key. Their ids are in `actor_key_id`. */
export type ActorKind = 'key' | 'session' | 'token' | 'tsig' | 'cli' | 'system';

/** The reason of a scan: a new domain, a request to import, or a request for a preview. */
export type ScanKind = 'background' | 'manual' | 'preview';

export type CheckKind = 'background' | 'manual' | 'operator';

/** A domain in external mode is `leaving` while it is still served, regardless of its status. */
export type RunStatus = DomainStatus | 'leaving' | 'left' | 'ended';

/** A finding whose names have their final dot. */
export interface StoredFinding {
  code: string;
  message: string;
  names?: string[];
}

/** A set of nameserver names in a column. */
export interface StoredSet {
  readonly names: readonly string[];
  /** True if no other account ever gets the set for this name. */
  readonly exclusive: boolean;
}

export type SigningPhase =
  | 'signing'
  | 'waiting'
  | 'ds_wanted'
  | 'secure'
  | 'rolling'
  | 'ds_removal'
  | 'unsigning'
  | 'off';

export type DenialKind = 'nsec' | 'nsec3';

/** The state of the chain that is not of the kind `denial`: being added to replace it, or no longer used and being removed. */
export type DenialChange = 'adding' | 'removing';

export type KeyRole = 'csk' | 'ksk' | 'zsk';

/** The sets that a key signs: DNSKEY (and CDS, CDNSKEY), all others, or both. */
export type KeySigns = 'none' | 'keys' | 'data' | 'both';

/** A JSON column: `T` when read, text when written. */
type Json<T> = ColumnType<T, string, string>;
type OptionalJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** Columns whose values the database does not type as narrowly as the code. */
interface Narrowed {
  aname_targets: { failure: WalkFailure['reason'] | null };
  audit_log: { actor_kind: ActorKind };
  changes: { operation: ChangeOperation; source: ChangeSource };
  check_runs: {
    kind: CheckKind;
    verdict: Verdict;
    findings: Json<StoredFinding[]>;
    status_before: RunStatus;
    status_after: RunStatus;
  };
  domains: {
    dns_mode: DnsMode;
    status: DomainStatus;
    disabled_by: 'operator' | 'checker' | null;
    served: Served;
    plan_overrides: OptionalJson<Overrides>;
    findings: ColumnType<StoredFinding[], string | undefined, string>;
    ns_sets: OptionalJson<StoredSet[]>;
  };
  memberships: { role: Exclude<Role, 'owner'> };
  records: { type: ApiType };
  signing_keys: { role: KeyRole };
  subscriptions: { status: SubscriptionStatus; overrides: OptionalJson<Overrides> };
  trust_anchors: { state: AnchorState };
  verification_runs: { kind: CheckKind; verdict: TxtVerdict };
  zones: { kind: ZoneKind };
}

export type Schema = { [T in keyof DB]: T extends keyof Narrowed ? Narrow<DB[T], Narrowed[T]> : DB[T] };

type Narrow<Columns, Narrower> = {
  [C in keyof Columns]: C extends keyof Narrower ? Narrower[C] : Columns[C];
};

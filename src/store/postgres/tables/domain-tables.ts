// Domains of customers, and their records.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Overrides } from '../../../billing/entitlements.ts';
import type { WalkFailure } from '../../../checks/delegation/evidence.ts';
import type { DnsMode, DomainStatus, Served } from '../../../zone/domain/domain-status.ts';
import type { ApiType } from '../../../zone/records/customer-types.ts';
import type { StoredFinding } from './check-tables.ts';
import type { StoredSet } from './name-server-tables.ts';

/** How many reminders about DNSSEC were ordered for an account, on its last day with any. */
interface DnssecRemindersTable {
  account_id: number;
  day: Date;
  mails: number;
}

export interface DomainsTable {
  id: GeneratedAlways<number>;
  account_id: number;
  name: string;
  unicode: string;
  /** Null for a domain that has lost its name: deleted, or taken by another claim. */
  zone_id: number | null;
  dns_mode: DnsMode;
  status: DomainStatus;
  disabled_by: 'operator' | 'checker' | null;
  served: Served;
  /** The domain is external, but served until the parent shows none of our servers. */
  leaving: Generated<boolean>;
  suspended_at: Date | null;
  debt_suspended_at: Date | null;
  serial: number;
  record_count: Generated<number>;
  /** The generation of the settings that its published records are made of. */
  answers_generation: number;
  plan_id: number | null;
  /** The overrides of its subscription. */
  plan_overrides: ColumnType<Overrides | null, string | null | undefined, string | null>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  pending_since: Date | null;
  moved_since: Date | null;
  delegated_ns: string[] | null;
  chosen_ns: string[] | null;
  findings: ColumnType<StoredFinding[], string | undefined, string>;
  leaving_since: Date | null;
  /** The sets that prove the domain, its own first; null: any set of NAMESERVER_SETS. */
  ns_sets: ColumnType<StoredSet[] | null, string | null | undefined, string | null>;
  /** While pending: it may be answered whole before proof. */
  open: Generated<boolean>;
  /** An operator made it, or brought it back. */
  by_operator: Generated<boolean>;
  /** While pending: an operator lets the first set of ours that the parent shows prove it. */
  approved_ahead: Generated<boolean>;
  /** It held the name when it was banned: the ban is one of the name. */
  banned_name: Generated<boolean>;
  /** When the claim was made: the entry into pending or unverified. */
  claimed_at: Date | null;
  /** When the checker disabled it. */
  ended_at: Date | null;
  /** The nameservers of a claim that waits for this domain's name, which its apex shows while it misses its own. */
  lent_ns: string[] | null;
  /** When it asked for a turn that it has not had yet. */
  turn_asked_at: Date | null;
  turn_last_asked_at: Date | null;
  turn_from: Date | null;
  turn_until: Date | null;
  cache_l2_max_gb: Generated<number>;
  cache_l2_ttl_days: Generated<number>;
  cache_cap_mb: Generated<number>;
  developer_mode_until: Date | null;
  sec_no_sniff: Generated<boolean>;
  sec_referrer_policy: Generated<boolean>;
  sec_strip_headers: Generated<boolean>;
  markdown_for_agents: Generated<boolean>;
  outage_alerts: Generated<boolean>;
  uptime_threshold_pct: Generated<number>;
  uptime_window_min: Generated<number>;
  uptime_min_requests: Generated<number>;
  uptime_min_active_min: Generated<number>;
  uptime_recover_min: Generated<number>;
  /** The regions whose edges serve the domain; null: all. */
  edge_regions: string[] | null;
}

interface RecordsTable {
  id: Generated<number>;
  domain_id: number;
  name: string;
  type: ApiType;
  rdata: Buffer;
  /** Equal for equal records: rdata with folded names, hashed when long. */
  identity: Buffer;
  /** The destination as the API prints it, for searches. */
  destination: string;
  ttl: number;
  proxied: boolean;
  captcha: boolean;
  scheme: string;
  port: number;
  host_header: string | null;
  monitor: boolean;
  dest_country: string | null;
  timeout: number;
  comment: string | null;
  /** The record is one of the service's own NS at the apex. */
  managed: Generated<boolean>;
  created_at: Date;
  updated_at: Date;
}

interface AnameTargetsTable {
  id: Generated<number>;
  /** The target, like `destination` in lower case. */
  target: string;
  /** The addresses last published; null: never known. */
  v4_addresses: string[] | null;
  v6_addresses: string[] | null;
  ttl: number | null;
  /** Since when the zone's servers say that there are no such addresses. */
  v4_gone_at: Date | null;
  v6_gone_at: Date | null;
  /** The name where its aliases end, with the final dot. */
  leads_to: string | null;
  failing_since: Date | null;
  failure: WalkFailure['reason'] | null;
  failure_message: string | null;
  /** How many look-ups in a row have failed. */
  failures: Generated<number>;
  /** Counts look-ups: saving one compares and sets it. */
  seq: Generated<number>;
  /** The result of the last look-up is published in every domain. */
  is_published: Generated<boolean>;
  checked_at: Date | null;
  due_at: Date;
  created_at: Generated<Date>;
}

export interface DomainTables {
  dnssec_reminders: DnssecRemindersTable;
  domains: DomainsTable;
  records: RecordsTable;
  aname_targets: AnameTargetsTable;
}

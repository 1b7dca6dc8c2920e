// The tables as Kysely sees them. Names are folded presentation text with the final dot (readable in psql, any octet
// through escapes); 64-bit counters are numbers, since they count from 1 (see `connectionTypes`).

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { WalkFailure } from '../checks/evidence.ts';
import type { TxtVerdict } from '../checks/judge-txt.ts';
import type { Verdict } from '../checks/verdict.ts';
import type { DnsMode, DomainStatus, Served } from '../zone/domain-status.ts';
import type { ApiType } from '../zone/record-types.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type ZoneKind = 'operator' | 'domain';
export type ChangeSource =
  | 'api'
  | 'import'
  | 'scan'
  | 'aname'
  | 'cli'
  | 'revert'
  | 'status'
  | 'migrate'
  | 'demo'
  | 'test';
export type ChangeOperation = 'zone.save' | 'zone.unload';
/** What a domain's change is about. */
export type DomainOperation =
  | 'create'
  | 'edit'
  | 'status'
  | 'nameservers'
  | 'settings'
  | 'delete'
  | 'restore'
  /** Of the targets of ANAME records. */
  | 'addresses';
export type Role = 'owner' | 'admin' | 'editor' | 'viewer';
/** Of a new domain; asked for, to be imported; asked for, to be looked at. */
export type ScanKind = 'background' | 'manual' | 'preview';
export type ActorKind = 'key' | 'session' | 'cli' | 'system';

/** Names with their final dot. */
export interface StoredFinding {
  code: string;
  message: string;
  names?: string[];
}

export interface ZonesTable {
  id: GeneratedAlways<number>;
  name: string;
  kind: ZoneKind;
  /** The change that wrote this content, with its mark: together they identify the content. */
  version: number;
  mark: number;
  records: number;
  /** Rows and tombstones are complete since this version; who holds an older one loads the whole zone. */
  complete_since: Generated<number>;
  deleted_at: Date | null;
}

export interface ZoneRecordsTable {
  zone_id: number;
  owner: string;
  type: number;
  ttl: number;
  rdata: Buffer;
  /** The version of the zone that wrote, changed or removed this row. */
  version: number;
  removed: Generated<boolean>;
}

export interface ChangesTable {
  /** Also the version of the zone: one global sequence, drawn under the lock of the zone's row. */
  id: number;
  zone_id: number;
  zone: string;
  operation: ChangeOperation;
  source: ChangeSource;
  actor: string | null;
  at: Timestamp;
  xid: Generated<string>;
  mark: number;
}

/** The log that customers see: one row for each change of a domain, with the id of its change in the feed. */
export interface DomainChangesTable {
  id: number;
  domain_id: number;
  /** The owner's. */
  account_id: number;
  serial: number;
  at: Timestamp;
  operation: DomainOperation;
  source: ChangeSource;
  actor_kind: ActorKind;
  actor_account_id: number | null;
  actor_key_id: number | null;
  actor_address: string | null;
  actor_name: string | null;
  /** `JsonOperation[]`. */
  ops: ColumnType<unknown, string, string>;
  status_from: DomainStatus | null;
  status_to: DomainStatus | null;
  check_id: number | null;
  reverts: number | null;
  xid: Generated<string>;
}

export interface NodesTable {
  name: string;
  instance: string;
  started_at: Timestamp;
  seen_at: Timestamp;
  left_at: Date | null;
  loaded: boolean;
  epoch: string | null;
  /** The newest change that the node has applied. */
  position: number | null;
  /** Every change whose transaction this snapshot sees is served. */
  snapshot: string | null;
  zones: number;
  records: number;
  held_id: string | null;
  held_since: Date | null;
  held_zones: number;
  confirmed_id: string | null;
}

export interface FeedTable {
  single: Generated<true>;
  epoch: Generated<string>;
  /** Changes of transactions up to this one may have been purged. */
  purged_xid: Generated<string>;
  purged_at: Generated<Date>;
}

export interface SettingsTable {
  name: string;
  value: ColumnType<unknown, string, string>;
}

export interface PlansTable {
  id: GeneratedAlways<number>;
  slug: string;
  name: string;
  max_records: number | null;
  max_domains: number | null;
  max_traffic_gb: number | null;
  max_rules_per_set: number | null;
  max_cache_cap_mb: number;
  logs_enabled: boolean;
  monitoring_enabled: boolean;
  rules_enabled: boolean;
  cache_purge_enabled: boolean;
  custom_ssl_enabled: boolean;
  ws_enabled: boolean;
  host_header_edit_enabled: boolean;
  dedicated_support_enabled: boolean;
  term_id: number;
  billing_duration_days: number;
  quota_reset_days: number;
}

export interface AccountsTable {
  id: GeneratedAlways<number>;
  email: string;
  name: string | null;
  is_admin: Generated<boolean>;
  active: Generated<boolean>;
  provider_id: number | null;
  /** The plan of its new domains; null: none. */
  plan_id: number | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ApiKeysTable {
  id: GeneratedAlways<number>;
  account_id: number;
  name: string;
  /** The first characters, so that people can tell keys apart. */
  prefix: string;
  /** SHA-256 of the whole text. */
  hash: Buffer;
  read_only: boolean;
  domains: string[] | null;
  names: string[] | null;
  types: string[] | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Generated<Date>;
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
  /** External, but still served until the parent shows none of our servers. */
  leaving: Generated<boolean>;
  suspended_at: Date | null;
  serial: number;
  record_count: Generated<number>;
  /** The generation of the settings that its published records are made of. */
  answers_generation: number;
  plan_id: number | null;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  pending_since: Date | null;
  moved_since: Date | null;
  next_check_at: Date | null;
  last_manual_ns_check_at: Date | null;
  ns_check_interval_seconds: number | null;
  current_ns: string[] | null;
  delegated_ns: string[] | null;
  chosen_ns: string[] | null;
  verification_value: string | null;
  verification_started_at: Date | null;
  verification_expires_at: Date | null;
  verified_at: Date | null;
  findings: ColumnType<StoredFinding[], string | undefined, string>;
  /** The zone that delegates it: of the newest check that found one, before it the name above. */
  check_parent: Generated<string>;
  /** The scheduler's: when it is to be checked, or looked for again; null where nothing is to be checked. */
  due_at: Date | null;
  /** Whoever saves a check compares it. Whoever changes anything else of what a check begins with adds one. */
  check_seq: Generated<number>;
  miss_count: Generated<number>;
  first_miss_at: Date | null;
  last_miss_at: Date | null;
  /** Of the newest conclusive check in this status. */
  conclusive_at: Date | null;
  conclusive_ours: boolean | null;
  /** When the parent last showed any of our servers. */
  ours_at: Date | null;
  leaving_since: Date | null;
  preset: Generated<'clear' | 'undecided' | 'standing'>;
  /** While `standing`: the sets that it may not have. */
  preset_taken: ColumnType<string[][], string | undefined, string>;
  last_check_id: number | null;
  /** What that run came to, hashed: an equal one only counts it up. */
  last_outcome: string | null;
  /** As `due_at` and `next_check_at`, for the TXT record of external mode. */
  txt_due_at: Date | null;
  txt_next_at: Date | null;
  /** Of the schedule: since the token was made, or since somebody last asked. */
  txt_attempts: Generated<number>;
  /** As `check_seq`, for verifications. */
  txt_seq: Generated<number>;
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
}

export interface MembershipsTable {
  domain_id: number;
  account_id: number;
  role: Exclude<Role, 'owner'>;
  created_at: Generated<Date>;
}

export interface SubscriptionsTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  account_id: number;
  plan_id: number;
  status: 'active' | 'expired' | 'grace' | 'cancelled';
  started_at: Generated<Date>;
  expires_at: Date | null;
  grace_until: Date | null;
  auto_renew: Generated<boolean>;
  quota_reset_days: number;
  is_trial: Generated<boolean>;
}

export interface RecordsTable {
  id: Generated<number>;
  domain_id: number;
  name: string;
  type: ApiType;
  rdata: Buffer;
  /** Equal for equal records: rdata with folded names, hashed when long. */
  identity: Buffer;
  /** As the API prints it, to be searched. */
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
  /** The service's own NS at the apex. */
  managed: Generated<boolean>;
  created_at: Date;
  updated_at: Date;
}

export interface NameHoldersTable {
  name: string;
  account_id: number;
  /** When its domain was last known to be active here. */
  active_at: Date;
}

/** A domain in external mode is `leaving` while it is still served, whatever its status is. */
export type RunStatus = DomainStatus | 'leaving' | 'left';
export type CheckKind = 'background' | 'manual' | 'operator';

export interface CheckRunsTable {
  id: Generated<number>;
  domain_id: number;
  kind: CheckKind;
  /** By which whoever asked for it finds it. */
  request: string | null;
  started_at: Date;
  finished_at: Date;
  last_seen_at: Date;
  /** How many later checks came to the same. */
  repeated: Generated<number>;
  verdict: Verdict;
  findings: ColumnType<StoredFinding[], string, string>;
  status_before: RunStatus;
  status_after: RunStatus;
  /** Null: nothing was seen. */
  current_ns: string[] | null;
  matched_ns: string[] | null;
  parent: string | null;
  queries: number;
  next_check_at: Date | null;
  evidence: ColumnType<unknown, string, string>;
  /** The change that it made. */
  change_id: number | null;
}

export interface CheckCountsTable {
  minute: Date;
  parent: string;
  checked: number;
  turned: number;
  off: number;
}

export interface BreakerTripsTable {
  id: GeneratedAlways<number>;
  /** Empty: overall. */
  parent: string;
  tripped_at: Date;
  checked: number;
  turned: number;
  released_at: Date | null;
  released_by: string | null;
  ended_at: Date | null;
}

export interface ResolverLeasesTable {
  address: string;
  second: number;
  /** In that second, and by the newest lease. */
  granted: number;
  newest: number;
}

export interface VerificationRunsTable {
  id: Generated<number>;
  domain_id: number;
  kind: CheckKind;
  request: string | null;
  /** What was looked for. */
  value: string;
  started_at: Date;
  finished_at: Date;
  verdict: TxtVerdict;
  found: number;
  asked: number;
  servers: ColumnType<unknown, string, string>;
  resolvers: ColumnType<unknown, string, string>;
  message: string;
  evidence: ColumnType<unknown, string, string>;
  change_id: number | null;
}

export interface ScansTable {
  id: Generated<number>;
  domain_id: number;
  account_id: number;
  kind: ScanKind;
  imports: boolean;
  actor: ColumnType<unknown, string, string>;
  /** Of the API key that asked, where it was narrowed. */
  narrowing: ColumnType<unknown, string | null, string | null>;
  request: string | null;
  requested_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  /** Null once it is over. */
  due_at: Date | null;
  /** The worker that it belongs to until `due_at`, or belonged to at its end. */
  run: string | null;
  attempts: Generated<number>;
  progress: ColumnType<unknown, string | null, string | null>;
  complete: boolean | null;
  shortfalls: ColumnType<string[], string | undefined, string>;
  names: Generated<number>;
  queries: Generated<number>;
  found: ColumnType<unknown, string | null, string | null>;
  result: ColumnType<unknown, string | null, string | null>;
  change_id: number | null;
}

export interface AnameTargetsTable {
  id: Generated<number>;
  /** As `destination` in lower case. */
  target: string;
  /** As last published; null: never seen. */
  v4_addresses: string[] | null;
  v6_addresses: string[] | null;
  ttl: number | null;
  /** Since when the zone's servers say that there are none. */
  v4_gone_at: Date | null;
  v6_gone_at: Date | null;
  /** The end of its aliases, with the final dot. */
  leads_to: string | null;
  failing_since: Date | null;
  failure: WalkFailure['reason'] | null;
  failure_message: string | null;
  /** In a row. */
  failures: Generated<number>;
  /** Of look-ups: the compare-and-set of whoever saves one. */
  seq: Generated<number>;
  /** Every domain has what the last look-up brought. */
  is_published: Generated<boolean>;
  checked_at: Date | null;
  due_at: Date;
  created_at: Generated<Date>;
}

export interface IdempotencyKeysTable {
  account_id: number;
  key: string;
  method: string;
  path: string;
  body_hash: Buffer;
  response: ColumnType<unknown, string | null, string>;
  /** Of the body's JSON, where it is not kept. */
  digest: Buffer | null;
  change_id: number | null;
  /** Of `response`. */
  octets: Generated<number>;
  created_at: Generated<Date>;
}

export interface IdempotencyOctetsTable {
  account_id: number;
  octets: number;
}

export interface Schema {
  zones: ZonesTable;
  zone_records: ZoneRecordsTable;
  changes: ChangesTable;
  domain_changes: DomainChangesTable;
  nodes: NodesTable;
  feed: FeedTable;
  settings: SettingsTable;
  plans: PlansTable;
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  domains: DomainsTable;
  memberships: MembershipsTable;
  subscriptions: SubscriptionsTable;
  records: RecordsTable;
  idempotency_keys: IdempotencyKeysTable;
  idempotency_octets: IdempotencyOctetsTable;
  name_holders: NameHoldersTable;
  check_runs: CheckRunsTable;
  check_counts: CheckCountsTable;
  breaker_trips: BreakerTripsTable;
  resolver_leases: ResolverLeasesTable;
  verification_runs: VerificationRunsTable;
  scans: ScansTable;
  aname_targets: AnameTargetsTable;
}

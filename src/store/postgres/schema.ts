// The tables as Kysely sees them. Names are folded presentation text with the final dot (readable in psql, any octet
// through escapes); 64-bit counters are numbers, since they count from 1 (see `connectionTypes`).

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Overrides } from '../../billing/entitlements.ts';
import type { SubscriptionStatus } from '../../billing/subscription.ts';
import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Verdict } from '../../checks/delegation/verdict.ts';
import type { TxtVerdict } from '../../checks/txt/txt-judgement.ts';
import type { AnchorState } from '../../checks/validation/roll-anchors.ts';
import type { DnsMode, DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import type { SetKind } from '../../zone/pool/pool-use.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import type { CertificateTables } from './certificate-tables.ts';
import type { EdgeTables } from './edge-tables.ts';
import type { RuleTables } from './rule-tables.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type ZoneKind = 'operator' | 'domain';
export type ChangeSource =
  | 'api'
  | 'import'
  | 'scan'
  | 'aname'
  /** Answers to the challenges of a certificate authority. */
  | 'acme'
  | 'cli'
  | 'revert'
  | 'status'
  | 'migrate'
  /** Signatures were made anew in their time. */
  | 'signing'
  | 'demo'
  | 'test';
export type ChangeOperation = 'zone.save' | 'zone.unload';
/** The kind of a change of a domain. */
export type DomainOperation =
  | 'create'
  | 'edit'
  | 'status'
  | 'nameservers'
  | 'settings'
  | 'delete'
  | 'restore'
  /** It left its account, or came to another one. */
  | 'move'
  /** The addresses of targets of ANAME records have changed. */
  | 'addresses'
  /** Its rules for the edge. */
  | 'rules'
  /** A step of its keys: it is signed, or no more, or with others. */
  | 'dnssec';
export type Role = 'owner' | 'admin' | 'editor' | 'viewer';
/** Why a scan was made: for a new domain; on request, to import; on request, as a preview. */
export type ScanKind = 'background' | 'manual' | 'preview';
export type ActorKind = 'key' | 'session' | 'cli' | 'system';

/** A finding whose names have their final dot. */
export interface StoredFinding {
  code: string;
  message: string;
  names?: string[];
}

interface ZonesTable {
  id: GeneratedAlways<number>;
  name: string;
  kind: ZoneKind;
  /** The change that wrote this content, with its mark: together they identify the content. */
  version: number;
  mark: number;
  records: number;
  /** Rows and tombstones are complete since this version; a node with an older one loads the whole zone. */
  complete_since: Generated<number>;
  deleted_at: Date | null;
}

interface ZoneRecordsTable {
  zone_id: number;
  owner: string;
  type: number;
  ttl: number;
  rdata: Buffer;
  /** The version of the zone that wrote, changed or removed this row. */
  version: number;
  removed: Generated<boolean>;
  /** Of NSEC the canonical key of its owner, of NSEC3 the hash: octets in the order of the ring. */
  place: Buffer | null;
}

/** Where a zone stands on its way to being signed, or from it. While `signing` and `unsigning` it is answered as unsigned. */
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
/** Of the chain that is not of the kind `denial`: `adding` that it may take its place, `removing` since it is out of use. */
export type DenialChange = 'adding' | 'removing';
export type KeyRole = 'csk' | 'ksk' | 'zsk';
/** What a key signs: the DNSKEY set (and CDS, CDNSKEY), all other sets, or both. */
export type KeySigns = 'none' | 'keys' | 'data' | 'both';

interface SignedZonesTable {
  id: GeneratedAlways<number>;
  domain_id: number | null;
  /** The domain's. */
  account_id: number | null;
  /** Of an operator zone. */
  zone_name: string | null;
  goal: 'signed' | 'unsigned';
  /** With which answers prove what is not there. */
  denial: DenialKind;
  denial_change: DenialChange | null;
  algorithm: number;
  split: Generated<boolean>;
  phase: SigningPhase;
  /** Compare-and-set of steps. */
  seq: Generated<number>;
  machine: unknown;
  findings: unknown;
  /** CDS and CDNSKEY ask the parent to remove the DS (RFC 8078 §4). */
  cds_delete: Generated<boolean>;
  /** The SOA of the file that was loaded. */
  loaded_soa: Buffer | null;
  due_at: Date | null;
  /** From then on signatures are made anew; null: there are none of ours. */
  resign_at: Date | null;
  /** When the first signature ends. */
  expires_at: Date | null;
  leased_until: Date | null;
  verbatim: Generated<boolean>;
  /** The parent has shown a DS since the zone is signed. */
  had_ds: Generated<boolean>;
  /** The zones of nameservers that were told of it (RFC 9615); null: they need not be. */
  signalled_in: number[] | null;
  /** As `dnssecStatus` reads it from the machine. */
  status: Generated<string>;
  /** When a user asked for a look last. */
  look_asked_at: Date | null;
  /** The next look asks the parent, whenever it was asked last. */
  ds_due: Generated<boolean>;
  /** Since when the owner has something to do at the registrar; null: nothing. */
  wanted_since: Date | null;
  reminded_at: Date | null;
  created_at: Generated<Date>;
}

interface SigningKeysTable {
  id: Generated<number>;
  signed_zone_id: number;
  role: KeyRole;
  algorithm: number;
  flags: number;
  key_tag: number;
  /** The last field of the DNSKEY record. */
  public_key: Buffer;
  box_id: number | null;
  sealed: Buffer | null;
  origin: Generated<'ours' | 'foreign'>;
  signs: Generated<KeySigns>;
  in_cds: Generated<boolean>;
  made_at: Generated<Date>;
  published_at: Date | null;
  retired_at: Date | null;
}

/** Of zones with NSEC3. */
interface HashedNamesTable {
  zone_id: number;
  /** The owner as stored, its characters in reverse order. */
  reversed: string;
}

interface ChangesTable {
  /** The id, which is also the version of the zone: one global sequence, drawn under the lock of the zone's row. */
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
interface DomainChangesTable {
  id: number;
  domain_id: number;
  /** The account of the owner. */
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
  /** The operations, `JsonOperation[]`. */
  ops: ColumnType<unknown, string, string>;
  /** The operations on rules, `RuleOperation[]`; null: none. */
  rules: unknown;
  status_from: DomainStatus | null;
  status_to: DomainStatus | null;
  check_id: number | null;
  reverts: number | null;
  xid: Generated<string>;
}

interface AuditLogTable {
  id: GeneratedAlways<number>;
  at: Generated<Date>;
  action: string;
  actor_kind: ActorKind;
  actor_account_id: number | null;
  actor_key_id: number | null;
  actor_address: string | null;
  actor_name: string | null;
  /** The account that it is about. */
  account_id: number | null;
  domain_id: number | null;
  change_id: number | null;
  target_id: number | null;
  /** Stays when the target is gone. */
  target_name: string | null;
  before: unknown;
  after: unknown;
  /** Of a sign-in that failed: its minute. */
  failed_minute: Date | null;
}

interface NodesTable {
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
  /** Zones whose newest content it does not serve; null: over 1,000. */
  unserved: number[] | null;
  abilities: Generated<string[]>;
  image_octets: number | null;
  image_capacity: number | null;
  /** An operator said that it is gone for good: keys no longer wait for it. */
  forgotten_at: Date | null;
}

interface FeedTable {
  single: Generated<true>;
  epoch: Generated<string>;
  /** Changes of transactions up to this one may have been purged. */
  purged_xid: Generated<string>;
  purged_at: Generated<Date>;
}

interface SettingsTable {
  name: string;
  value: ColumnType<unknown, string, string>;
}

interface PlansTable {
  id: GeneratedAlways<number>;
  slug: string;
  name: string;
  max_records: number | null;
  max_domains: number | null;
  /** Of one account's domains so many may be pending or unverified. */
  max_claims: number | null;
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
  quota_reset_days: number;
}

interface PlanTermsTable {
  id: GeneratedAlways<number>;
  plan_id: number;
  days: number;
  price_rials: number;
  created_at: Generated<Date>;
  /** It is sold no more; who has it keeps it. */
  retired_at: Date | null;
}

interface AccountsTable {
  id: GeneratedAlways<number>;
  email: string;
  name: string | null;
  is_admin: Generated<boolean>;
  active: Generated<boolean>;
  provider_id: number | null;
  is_reseller: Generated<boolean>;
  /** The account was not made by an operator. */
  self_registered: Generated<boolean>;
  /** When it had its trial. */
  trial_at: Date | null;
  /** The plan of the account's new domains; null: none. */
  plan_id: number | null;
  /** The email as it is compared: in lower case, NFC. */
  email_key: string | null;
  email_confirmed_at: Generated<Date | null>;
  password_hash: Generated<string | null>;
  password_set_at: Generated<Date | null>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface ApiKeysTable {
  id: GeneratedAlways<number>;
  account_id: number;
  name: string;
  /** The first characters, so that people can tell keys apart. */
  prefix: string;
  /** The SHA-256 of the whole text. */
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

/** A set of nameserver names in a column. */
export interface StoredSet {
  readonly names: readonly string[];
  /** No other account ever has it for this name. */
  readonly exclusive: boolean;
}

/** A set proves a name for one account. */
interface NsRightsTable {
  name: string;
  /** Sorted. */
  names: string[];
  account_id: number;
  exclusive: boolean;
  made_at: Generated<Date>;
}

/** Names of ours that the parent of a name showed. */
interface NsSightingsTable {
  name: string;
  /** Sorted. */
  names: string[];
  first_seen_at: Date;
  last_seen_at: Date;
}

/** When mails were ordered that warn whoever holds a name. */
interface TakeoverMailsTable {
  domain_id: number;
  account_id: number;
  at: Generated<Date>;
}

/** How many reminders about DNSSEC were ordered for an account, on its last day with any. */
interface DnssecRemindersTable {
  account_id: number;
  day: Date;
  mails: number;
}

interface NameTakeoversTable {
  name: string;
  at: Date;
  from_account_id: number;
  to_account_id: number;
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

/** What the delegation checker remembers of a domain; every domain has a row. */
export interface DomainChecksTable {
  domain_id: number;
  /** The domain's account: the list of domains is sorted by `next_at` in this table. */
  account_id: number;
  /** The domain is deleted, and not listed. */
  deleted: Generated<boolean>;
  /** The zone that delegates it: from the newest check that found one, before that the name above. */
  parent: string;
  /** When it was last checked because clients asked for it while nothing proved it. */
  asked_at: Generated<Date | null>;
  /** When it is to be checked for that reason. */
  asked_due_at: Generated<Date | null>;
  /** When the scheduler takes it, for a check or to repeat one; null when it is not checked. */
  due_at: Date | null;
  /** The planned time of the next check. */
  next_at: Date | null;
  interval_seconds: number | null;
  /** Saving a check compares this number. Every other change of what a check begins with adds one. */
  seq: Generated<number>;
  miss_count: Generated<number>;
  first_miss_at: Date | null;
  last_miss_at: Date | null;
  /** When the newest conclusive check in this status was. */
  conclusive_at: Date | null;
  /** Whether it showed any name of the domain's sets. */
  conclusive_ours: boolean | null;
  /** Whether it showed a name of ours that is in none of the domain's sets. */
  conclusive_others: boolean | null;
  /** The parent showed the domain's set while another account held the name: since then. */
  takeover_seen_at: Date | null;
  /** Since when a sole address of the parent shows a set of the domain. */
  witness_at: Date | null;
  /** Four octets of a hash of the NS set that the newest confirmed check saw. */
  seen_ns: number | null;
  /** When that set changed, within a day of the newest check; at most 32. */
  ns_changed_at: Date[] | null;
  /** When the parent last showed any of our servers. */
  ours_at: Date | null;
  current_ns: string[] | null;
  last_run_id: number | null;
  /** A hash of that run's outcome; an equal one only counts the run up. */
  last_outcome: string | null;
  /** When a user of the domain last asked for a check. */
  last_manual_at: Date | null;
  /** How many checks in a row saw nothing, while the domain is pending. */
  unknowns: Generated<number>;
  /** How many of these checks were given back within a day of `given_back_since`. */
  given_back: Generated<number>;
  given_back_since: Date | null;
}

/** The TXT record of a domain in external mode, which proves it, or of one that waits in managed mode and was offered one. */
export interface DomainVerificationsTable {
  domain_id: number;
  /** The domain's: accounts take turns. */
  account_id: number;
  /** What the record must hold: no other domain, and no other life of this one, ever had it. */
  value: string;
  started_at: Date;
  expires_at: Date;
  /** When the domain was proved; in managed mode when the record was last found, and null once it no longer counts. */
  verified_at: Date | null;
  /** In managed mode: the owner is shown it, and it is looked for. */
  offered: Generated<boolean>;
  /** Since when this value is there, and that of the account which holds the name is not. */
  takeover_seen_at: Date | null;
  /** When the scheduler takes it, to look or to look again; null when nobody looks. */
  due_at: Date | null;
  /** The planned time of the next look. */
  next_at: Date | null;
  /** How many times the schedule has looked: since the value was made, or since the last request. */
  attempts: Generated<number>;
  /** Saving a verification compares this number, and `value`: each that is saved adds one. */
  seq: Generated<number>;
}

interface MembershipsTable {
  domain_id: number;
  account_id: number;
  role: Exclude<Role, 'owner'>;
  created_at: Generated<Date>;
}

/** How an invite came to its end. One that is open is over once it expires. */
export type InviteEnd = 'open' | 'accepted' | 'revoked';

interface InvitesTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  email: string;
  /** The email as it is compared. */
  email_key: string;
  role: Exclude<Role, 'owner'>;
  /** Null: the operator. */
  invited_by: number | null;
  invited_by_email: string | null;
  status: Generated<InviteEnd>;
  created_at: Generated<Date>;
  /** When it was made, or sent again. */
  sent_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
  accepted_by: number | null;
}

interface SubscriptionsTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  account_id: number;
  plan_id: number;
  status: SubscriptionStatus;
  started_at: Generated<Date>;
  expires_at: Date | null;
  grace_until: Date | null;
  auto_renew: Generated<boolean>;
  quota_reset_days: number;
  is_trial: Generated<boolean>;
  /** Null: it has no term, and no end but that of a trial. */
  term_id: number | null;
  overrides: ColumnType<Overrides | null, string | null | undefined, string | null>;
  /** Null: it is the domain's own. */
  ended_at: Date | null;
  charge_tried_at: Date | null;
  /** When the workers look at it next. */
  due_at: Date | null;
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

interface NameHoldersTable {
  name: string;
  account_id: number;
  /** When its domain was last known to be active here. */
  active_at: Date;
}

/** A domain in external mode is `leaving` while it is still served, whatever its status is. */
export type RunStatus = DomainStatus | 'leaving' | 'left' | 'ended';
export type CheckKind = 'background' | 'manual' | 'operator';

interface CheckRunsTable {
  id: Generated<number>;
  domain_id: number;
  kind: CheckKind;
  /** The request by which the caller finds the run. */
  request: string | null;
  started_at: Date;
  finished_at: Date;
  last_seen_at: Date;
  /** How many later checks had the same outcome. */
  repeated: Generated<number>;
  verdict: Verdict;
  findings: ColumnType<StoredFinding[], string, string>;
  status_before: RunStatus;
  status_after: RunStatus;
  /** The NS set that was seen; null: none was seen. */
  current_ns: string[] | null;
  matched_ns: string[] | null;
  parent: string | null;
  queries: number;
  next_check_at: Date | null;
  evidence: ColumnType<unknown, string, string>;
  /** What observers elsewhere saw; null: none was asked. */
  vantages: ColumnType<unknown, string | null, string | null>;
  /** The change that the run made. */
  change_id: number | null;
}

interface CheckCountsTable {
  minute: Date;
  parent: string;
  checked: number;
  turned: number;
  off: number;
}

interface BreakerTripsTable {
  id: GeneratedAlways<number>;
  /** The parent; empty: overall. */
  parent: string;
  tripped_at: Date;
  checked: number;
  turned: number;
  released_at: Date | null;
  released_by: string | null;
  ended_at: Date | null;
}

/** What an account has used of the workers lately. */
interface CheckSharesTable {
  account_id: number;
  slot_ms: number;
  manual: number;
  asked_again: Generated<number>;
  /** The time to which both have faded. */
  at: Date;
}

/** Zones that nodes report, each in the slot of its id's remainder. */
interface AskedNamesTable {
  slot: number;
  zone_id: number;
  asked_at: Generated<Date>;
}

/** An address that was asked. */
interface ResolverAddressesTable {
  address: string;
  /** When it last sent a valid reply, as far as that was reported. */
  replied_at: Date | null;
  /** How many questions in a row brought nothing. */
  silences: number;
  window_at: Date;
  asked: number;
  /** A question is open until then at most. */
  open_until: Date | null;
}

interface ResolverSilencesTable {
  key: string;
  count: number;
  until: Date;
  noted_at: Date;
}

interface ResolverLeasesTable {
  address: string;
  second: number;
  /** How many were granted in that second, and by the newest lease. */
  granted: number;
  newest: number;
}

interface VerificationRunsTable {
  id: Generated<number>;
  domain_id: number;
  kind: CheckKind;
  request: string | null;
  /** The value that was looked for. */
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

interface ScansTable {
  id: Generated<number>;
  domain_id: number;
  account_id: number;
  kind: ScanKind;
  imports: boolean;
  actor: ColumnType<unknown, string, string>;
  /** What the API key that asked was narrowed to, if it was. */
  narrowing: ColumnType<unknown, string | null, string | null>;
  request: string | null;
  requested_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  /** When the scan is due; null once it is over. */
  due_at: Date | null;
  /** The worker that has it until `due_at`, or had it at its end. */
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

/** The combinations of the nameserver pool that were ever given. */
interface GivenNsSetsTable {
  /** Folded names, one of each list, in the order of the lists. */
  names: string[];
  kind: SetKind;
  /** Whose set it is, for `exclusive`; the account may be gone. */
  account_id: number | null;
  given_at: Generated<Date>;
}

/** The set of each account that has one. */
interface AccountNsSetsTable {
  account_id: number;
  names: string[];
  given_at: Generated<Date>;
}

/** A name whose last domain has ended, and that is still looked at. */
interface SweptNamesTable {
  name: string;
  /** The account that first had it so. */
  account_id: number;
  ended_at: Date;
  due_at: Date;
  /** The newest conclusive look saw a name of ours. */
  is_shown: Generated<boolean>;
}

interface IdempotencyKeysTable {
  account_id: number;
  key: string;
  method: string;
  path: string;
  body_hash: Buffer;
  response: ColumnType<unknown, string | null, string>;
  /** The digest of the body's JSON, when the body is not kept. */
  digest: Buffer | null;
  change_id: number | null;
  /** The bytes of `response`. */
  octets: Generated<number>;
  created_at: Generated<Date>;
}

interface IdempotencyOctetsTable {
  account_id: number;
  octets: number;
}

/** Of the root. */
interface TrustAnchorsTable {
  /** A hash of the DS records that were configured. */
  origin: string;
  key: Buffer;
  state: AnchorState;
  since: Date;
}

/** An observer elsewhere. */
interface VantagesTable {
  name: string;
  /** The operator's label: vantages of one network are one voice. */
  network: string;
  public_key: string;
  given_address: string | null;
  seen_address: string | null;
  created_at: Generated<Date>;
  seen_at: Date | null;
  answers: Generated<number>;
  dropped: Generated<number>;
}

interface VantageJobsTable {
  id: string;
  /** The jobs that one check made. */
  ask: string;
  vantage: string;
  name: string;
  fresh: boolean;
  thorough: boolean;
  deadline: Date;
  taken_at: Date | null;
  answered_at: Date | null;
  evidence: ColumnType<unknown, string | null, string | null>;
}

interface VantageNoncesTable {
  vantage: string;
  nonce: string;
  at: Date;
}

export interface Schema extends EdgeTables, CertificateTables, RuleTables {
  zones: ZonesTable;
  zone_records: ZoneRecordsTable;
  signed_zones: SignedZonesTable;
  signing_keys: SigningKeysTable;
  hashed_names: HashedNamesTable;
  changes: ChangesTable;
  domain_changes: DomainChangesTable;
  audit_log: AuditLogTable;
  nodes: NodesTable;
  feed: FeedTable;
  settings: SettingsTable;
  plans: PlansTable;
  plan_terms: PlanTermsTable;
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  domains: DomainsTable;
  domain_checks: DomainChecksTable;
  domain_verifications: DomainVerificationsTable;
  memberships: MembershipsTable;
  invites: InvitesTable;
  subscriptions: SubscriptionsTable;
  records: RecordsTable;
  idempotency_keys: IdempotencyKeysTable;
  idempotency_octets: IdempotencyOctetsTable;
  name_holders: NameHoldersTable;
  name_takeovers: NameTakeoversTable;
  takeover_mails: TakeoverMailsTable;
  dnssec_reminders: DnssecRemindersTable;
  ns_rights: NsRightsTable;
  ns_sightings: NsSightingsTable;
  swept_names: SweptNamesTable;
  check_runs: CheckRunsTable;
  check_counts: CheckCountsTable;
  breaker_trips: BreakerTripsTable;
  check_shares: CheckSharesTable;
  asked_names: AskedNamesTable;
  resolver_addresses: ResolverAddressesTable;
  resolver_silences: ResolverSilencesTable;
  resolver_leases: ResolverLeasesTable;
  verification_runs: VerificationRunsTable;
  scans: ScansTable;
  aname_targets: AnameTargetsTable;
  given_ns_sets: GivenNsSetsTable;
  account_ns_sets: AccountNsSetsTable;
  trust_anchors: TrustAnchorsTable;
  vantages: VantagesTable;
  vantage_jobs: VantageJobsTable;
  vantage_nonces: VantageNoncesTable;
}

// Checks of domains, and what they found.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Verdict } from '../../../checks/delegation/verdict.ts';
import type { TxtVerdict } from '../../../checks/txt/txt-judgement.ts';
import type { DomainStatus } from '../../../zone/domain/domain-status.ts';

/** Why a scan was made: for a new domain; on request, to import; on request, as a preview. */
export type ScanKind = 'background' | 'manual' | 'preview';

/** A finding whose names have their final dot. */
export interface StoredFinding {
  code: string;
  message: string;
  names?: string[];
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

interface CheckHoursTable extends Omit<CheckCountsTable, 'minute'> {
  hour: Date;
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
  /** Of a freeze by hand also when it will end. */
  ended_at: Date | null;
  /** Null: no freeze by hand, but what the checks came to. */
  frozen_by: string | null;
  reason: string | null;
  frozen_until: Date | null;
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

export interface CheckTables {
  domain_checks: DomainChecksTable;
  domain_verifications: DomainVerificationsTable;
  check_runs: CheckRunsTable;
  check_counts: CheckCountsTable;
  check_hours: CheckHoursTable;
  breaker_trips: BreakerTripsTable;
  check_shares: CheckSharesTable;
  verification_runs: VerificationRunsTable;
  scans: ScansTable;
}

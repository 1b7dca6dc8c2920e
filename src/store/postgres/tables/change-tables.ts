// What was changed, and by whom.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { DomainStatus } from '../../../zone/domain/domain-status.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

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

/** `token`: a machine token of a reseller; its id is in `actor_key_id`. */
export type ActorKind = 'key' | 'session' | 'token' | 'cli' | 'system';

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

export interface ChangeTables {
  domain_changes: DomainChangesTable;
  audit_log: AuditLogTable;
  idempotency_keys: IdempotencyKeysTable;
  idempotency_octets: IdempotencyOctetsTable;
}

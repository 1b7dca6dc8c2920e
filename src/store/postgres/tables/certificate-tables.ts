// The tables of certificates and of their orders, as Kysely sees them.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/** `acme`: an authority issued it to us; `custom`: the owner brought it. */
export type CertificateKind = 'acme' | 'custom';

interface CertificatesTable {
  id: Generated<number>;
  domain_id: number;
  kind: CertificateKind;
  /** A-labels without the final dot, perhaps `*.` before them. */
  names: string[];
  /** PEM, the leaf first. */
  chain: string;
  box_id: number;
  /** The private key. */
  sealed: Buffer;
  not_before: Date;
  not_after: Date;
  issuer: string;
  /** The SHA-256 of the leaf in hexadecimal. */
  fingerprint: string;
  made_at: Generated<Date>;
}

interface AcmeAccountsTable {
  directory: string;
  box_id: number;
  sealed: Buffer;
  /** Null: it is not registered yet. */
  url: string | null;
  /** Until then nothing is asked of the authority. */
  paused_until: Date | null;
}

/** How far an order is; between two orders it rests. */
export type OrderStep = 'resting' | 'ordered' | 'published' | 'answered' | 'finalizing';

interface AcmeOrdersTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  /** The domain's. */
  account_id: number;
  /** Compare-and-set of steps. */
  seq: Generated<number>;
  step: Generated<OrderStep>;
  due_at: Date | null;
  /** When a user asked for a certificate last. */
  asked_at: Date | null;
  /** An order is to be made, whatever the certificate is like. */
  wanted: Generated<boolean>;
  begun_at: Date | null;
  /** The authority that has the order. */
  directory: string | null;
  names: Generated<string[]>;
  order_url: string | null;
  challenges: ColumnType<unknown, string | undefined, string>;
  /** The change that published the TXT records. */
  change_id: number | null;
  published_at: Date | null;
  box_id: number | null;
  /** The private key of the certificate that is ordered. */
  sealed: Buffer | null;
  /** Failures in a row. */
  attempts: Generated<number>;
  last_error: string | null;
  failed_at: Date | null;
  findings: ColumnType<unknown, string | undefined, string>;
  renew_at: Date | null;
  /** When the authority is next asked for the time of renewal (RFC 9773). */
  renewal_look_at: Date | null;
}

interface AcmeAsksTable {
  id: GeneratedAlways<number>;
  account_id: number;
  /** Of the domain, as stored. */
  name: string;
  asked_at: Generated<Date>;
}

interface AcmeAnswersTable {
  domain_id: number;
  host: string;
  token: string;
  key_authorization: string;
}

export interface CertificateTables {
  certificates: CertificatesTable;
  acme_accounts: AcmeAccountsTable;
  acme_orders: AcmeOrdersTable;
  acme_asks: AcmeAsksTable;
  acme_answers: AcmeAnswersTable;
}

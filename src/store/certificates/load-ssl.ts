// Loads what owners see of a domain's certificates.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** `acme` is issued by a certificate authority; `custom` is uploaded by the owner. */
export type CertificateKind = 'acme' | 'custom';
/** The progress of an order; `resting` between two orders. */
export type OrderStep = 'resting' | 'ordered' | 'published' | 'answered' | 'finalizing';

export interface StoredSsl {
  readonly certificate:
    | {
        readonly kind: CertificateKind;
        readonly names: readonly string[];
        readonly notBefore: Date;
        readonly notAfter: Date;
        readonly issuer: string;
        readonly fingerprint: string;
      }
    | undefined;
  /** Undefined if no certificate is requested. */
  readonly order:
    | {
        readonly isFailed: boolean;
        readonly step: OrderStep;
        readonly attempts: number;
        readonly names: readonly string[];
        readonly lastError: string | undefined;
        readonly failedAt: Date | undefined;
        /** Time of the next attempt. */
        readonly nextAt: Date | undefined;
        readonly findings: readonly { readonly code: string; readonly message: string }[];
        readonly renewAt: Date | undefined;
      }
    | undefined;
}

interface SslRow {
  readonly domainId: number;
  readonly kind: CertificateKind | null;
  readonly names: string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer: string;
  readonly fingerprint: string;
  readonly step: OrderStep | null;
  readonly wanted: boolean;
  readonly attempts: number;
  readonly orderNames: string[];
  readonly lastError: string | null;
  readonly failedAt: Date | null;
  readonly dueAt: Date | null;
  readonly findings: { code: string; message: string }[];
  readonly renewAt: Date | null;
}

/** Keyed by domain id. A domain that never had or requested a certificate has no entry. */
export async function loadSsl(db: Database, domainIds: readonly number[]): Promise<Map<number, StoredSsl>> {
  const { rows } = await sql<SslRow>`
    select coalesce(c.domain_id, o.domain_id) as "domainId", c.kind, c.names, c.not_before as "notBefore",
      c.not_after as "notAfter", c.issuer, c.fingerprint, o.step, o.wanted, o.attempts, o.names as "orderNames",
      o.last_error as "lastError", o.failed_at as "failedAt", o.due_at as "dueAt", o.findings, o.renew_at as "renewAt"
    from (select * from certificates where domain_id = any(${domainIds}::bigint[])) c
      full join (select * from acme_orders where domain_id = any(${domainIds}::bigint[])) o
        on o.domain_id = c.domain_id`.execute(db);
  return new Map(rows.map((row) => [row.domainId, sslOf(row)]));
}

function sslOf(row: SslRow): StoredSsl {
  const { kind, names, notBefore, notAfter, issuer, fingerprint, step, attempts, wanted } = row;
  return {
    certificate: kind === null ? undefined : { kind, names, notBefore, notAfter, issuer, fingerprint },
    order:
      step === null
        ? undefined
        : {
            isFailed: step === 'resting' && attempts > 0 && !wanted,
            step,
            attempts,
            names: row.orderNames,
            lastError: row.lastError ?? undefined,
            failedAt: row.failedAt ?? undefined,
            nextAt: row.dueAt ?? undefined,
            findings: row.findings,
            renewAt: row.renewAt ?? undefined,
          },
  };
}

// A rule as a row, and as JSON in the log of changes. In both the text of an error page is replaced by its digest.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { RuleType } from '../../edge/edge-rule.ts';
import { kindOf } from '../../edge/rules/every-type.ts';
import type { RuleBody } from '../../edge/rules/rule-kind.ts';

/** Everything of a rule that a write can change. */
export interface RuleValue {
  /** Without the text of a page. */
  readonly body: RuleBody;
  readonly page: StoredPage | null;
  /** Why the service has disabled it. */
  readonly disabledReason: string | null;
}

export interface StoredPage {
  /** SHA-256, hexadecimal. */
  readonly digest: string;
  readonly octets: number;
}

export interface Rule extends RuleValue {
  readonly id: number;
  readonly domainId: number;
  readonly type: RuleType;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A rule with the text of its page, if it has one. */
export interface WholeRule extends Rule {
  readonly html: string | null;
}

export interface RuleRow {
  readonly id: number;
  readonly domainId: number;
  readonly type: RuleType;
  readonly enabled: boolean;
  readonly priority: number;
  readonly recordIds: number[];
  readonly fields: Record<string, unknown>;
  readonly page: string | null;
  readonly pageOctets: number;
  readonly disabledReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `r` is the table. */
export const RULE_COLUMNS = sql`r.id, r.domain_id as "domainId", r.type, r.enabled, r.priority, to_jsonb(r.record_ids) as "recordIds",
  r.fields, encode(r.page, 'hex') as page, r.page_octets as "pageOctets", r.disabled_reason as "disabledReason",
  r.created_at as "createdAt", r.updated_at as "updatedAt"`;

export function decodeRule(row: RuleRow): Rule {
  const { enabled, priority, recordIds, fields, page, pageOctets, ...rest } = row;
  return {
    id: rest.id,
    domainId: rest.domainId,
    type: rest.type,
    body: { ...fields, record_ids: recordIds, enabled, priority } as unknown as RuleBody,
    page: page === null ? null : { digest: page, octets: pageOctets },
    disabledReason: rest.disabledReason,
    createdAt: rest.createdAt,
    updatedAt: rest.updatedAt,
  };
}

/** Splits a judged body in what is stored with the rule and the page that is stored apart. */
export function ruleValueOf(type: RuleType, whole: RuleBody): { value: RuleValue; html: string | undefined } {
  const { pageField } = kindOf(type);
  const html = pageField === undefined ? undefined : (whole[pageField] as string);
  const body = Object.fromEntries(
    Object.entries(whole).filter(([name, each]) => name !== pageField && each !== undefined && each !== null),
  ) as unknown as RuleBody;
  const page =
    html === undefined
      ? null
      : { digest: createHash('sha256').update(html).digest('hex'), octets: Buffer.byteLength(html) };
  return { value: { body, page, disabledReason: null }, html };
}

/** Edges are told the name of a record instead of its id, which is a few octets: so much at least is counted for each. */
const NAME_OCTETS = 128;

/** The size by which the rules of a domain are bounded together. */
export function octetsOfBody({ body }: RuleValue): number {
  return Buffer.byteLength(JSON.stringify(body)) + NAME_OCTETS * body.record_ids.length;
}

// Converts a rule to a table row and to JSON for the change log. Both store the digest of an error page instead of its
// text. The log keeps only the changed fields of a rule, so that its row is no larger than the request.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { RuleType } from '../../edge/edge-rule.ts';
import { kindOf } from '../../edge/rules/every-type.ts';
import type { RuleBody } from '../../edge/rules/rule-kind.ts';

/** The parts of a rule that a write can change. */
export interface RuleValue {
  /** Without the text of a page. */
  readonly body: RuleBody;
  readonly page: StoredPage | null;
  /** The reason for which the service disabled the rule. */
  readonly disabledReason: string | null;
}

export interface StoredPage {
  /** SHA-256 in hexadecimal. */
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

/** A rule with the text of its page, if any. */
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

/** `r` is the table of rules. */
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

/** Splits a validated body into the stored value and the text of the page, which is stored separately. */
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

/** Edges receive a record's name instead of its id, so at least this many octets count for each record. */
const NAME_OCTETS = 128;

/** Returns the size that counts towards the limit of the domain's rules. */
export function octetsOfBody({ body }: RuleValue): number {
  return Buffer.byteLength(JSON.stringify(body)) + NAME_OCTETS * body.record_ids.length;
}

/** Members of a rule: those of its body, `page`, `disabled_reason`. */
type RuleMembers = Readonly<Record<string, unknown>>;

export interface RuleOperation {
  readonly op: 'create' | 'update' | 'delete';
  readonly id: number;
  readonly type: RuleType;
  /** The members before an update (only those that changed) or a deletion (all). */
  readonly before?: RuleMembers;
  /** The members after an update (only those that changed) or a creation (all). */
  readonly after?: RuleMembers;
  /** Digest of the whole rule after the operation. */
  readonly digest?: string;
  /** RFC 3339. Only for a deleted rule. */
  readonly created_at?: string;
}

/** A rule that a change writes, and its operation. */
export interface WrittenRule {
  readonly operation: RuleOperation;
  /** Undefined if the rule is deleted. */
  readonly value?: RuleValue;
  /** The text of a page that may not be stored yet. */
  readonly html?: string | undefined;
}

export function created(id: number, type: RuleType, value: RuleValue, html?: string): WrittenRule {
  const after = membersOf(value);
  return { operation: { op: 'create', id, type, after, digest: digestOf(after) }, value, html };
}

/** Returns undefined if nothing differs. */
export function updated(rule: Rule, value: RuleValue, html?: string): WrittenRule | undefined {
  const [from, to] = [membersOf(rule), membersOf(value)];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  const differ = [...names].filter((name) => canonical(from[name]) !== canonical(to[name]));
  if (differ.length === 0) return undefined;
  const { id, type } = rule;
  const operation = {
    op: 'update',
    id,
    type,
    before: pick(from, differ),
    after: pick(to, differ),
    digest: digestOf(to),
  } as const;
  return { operation, value, html };
}

export function deleted(rule: Rule): WrittenRule {
  const { id, type, createdAt } = rule;
  return {
    operation: { op: 'delete', id, type, before: membersOf(rule), created_at: createdAt.toISOString() },
  };
}

export function membersOf({ body, page, disabledReason }: RuleValue): RuleMembers {
  return {
    ...body,
    ...(page !== null && { page }),
    ...(disabledReason !== null && { disabled_reason: disabledReason }),
  };
}

export function ruleValueIn({ page, disabled_reason: reason, ...body }: RuleMembers): RuleValue {
  return {
    body: body as unknown as RuleBody,
    page: (page as StoredPage | undefined) ?? null,
    disabledReason: (reason as string | undefined) ?? null,
  };
}

export function digestOf(members: RuleMembers): string {
  return createHash('sha256').update(canonical(members)).digest('hex').slice(0, 32);
}

function pick(members: RuleMembers, names: readonly string[]): RuleMembers {
  return Object.fromEntries(names.filter((name) => name in members).map((name) => [name, members[name]]));
}

/** Returns JSON with sorted members. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, each) =>
      typeof each === 'object' && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? ''
  );
}

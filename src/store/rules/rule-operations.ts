// What a change does to rules, as the log keeps it: of a rule that was altered the fields that differ, so that a row of the log
// is no larger than what was asked for.

import { createHash } from 'node:crypto';
import type { RuleType } from '../../edge/edge-rule.ts';
import type { RuleBody } from '../../edge/rules/rule-kind.ts';
import type { Rule, RuleValue, StoredPage } from './rule-row.ts';

/** Members of a rule: those of its body, `page`, `disabled_reason`. */
type RuleMembers = Readonly<Record<string, unknown>>;

export interface RuleOperation {
  readonly op: 'create' | 'update' | 'delete';
  readonly id: number;
  readonly type: RuleType;
  /** Of an update, the members that differ; of a delete, all. */
  readonly before?: RuleMembers;
  /** Of an update, the members that differ; of a create, all. */
  readonly after?: RuleMembers;
  /** Of the whole rule after it. */
  readonly digest?: string;
  /** RFC 3339; of a rule that was deleted. */
  readonly created_at?: string;
}

/** A rule that a change writes, and its operation. */
export interface WrittenRule {
  readonly operation: RuleOperation;
  /** Undefined: it is deleted. */
  readonly value?: RuleValue;
  /** The text of a page that may not be stored yet. */
  readonly html?: string | undefined;
}

export function created(id: number, type: RuleType, value: RuleValue, html?: string): WrittenRule {
  const after = membersOf(value);
  return { operation: { op: 'create', id, type, after, digest: digestOf(after) }, value, html };
}

/** Undefined: nothing differs. */
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

/** JSON whose members are in the order of their names. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, each) =>
      typeof each === 'object' && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? ''
  );
}

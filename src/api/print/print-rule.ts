// Prints rules.

import type { RuleType } from '../../edge/edge-rule.ts';
import { COMMON_FIELDS } from '../../edge/rules/common-fields.ts';
import { kindOf } from '../../edge/rules/every-type.ts';
import type { Rule, RuleOperation, StoredPage, WholeRule } from '../../store/rules/rule.ts';
import type { PrintedRule } from '../schemas/rules.ts';

/** For lists and responses to writes: omits the text of an error page. */
export function printRule({
  id,
  domainId,
  type,
  body,
  disabledReason,
  createdAt,
  updatedAt,
}: Rule): PrintedRule {
  const [recordId, ...others] = body.record_ids;
  return {
    id,
    domain_id: domainId,
    ...(recordId !== undefined && others.length === 0 && { record_id: recordId }),
    type,
    ...inOrder(type, body),
    ...(disabledReason !== null && { disabled_reason: disabledReason }),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** Restores the order of members, which PostgreSQL does not preserve. */
function inOrder(type: RuleType, body: Readonly<Record<string, unknown>>): PrintedRule {
  const names = Object.keys({ ...COMMON_FIELDS, ...kindOf(type).fields });
  return Object.fromEntries(names.flatMap((name) => (name in body ? [[name, body[name]]] : [])));
}

/** For a single rule: includes the text of an error page. */
export function printWholeRule(rule: WholeRule): PrintedRule {
  const { pageField } = kindOf(rule.type);
  if (pageField === undefined || rule.page === null) return printRule(rule);
  return { ...printRule(rule), [pageField]: rule.html, size: rule.page.octets };
}

interface PrintedOperation {
  readonly op: RuleOperation['op'];
  readonly before?: { id: number; type: RuleOperation['type'] };
  readonly after?: { id: number; type: RuleOperation['type'] };
}

export function printRuleOperation({ op, id, type, before, after }: RuleOperation): PrintedOperation {
  const print = ({ page, ...members }: Readonly<Record<string, unknown>>) => ({
    id,
    type,
    ...members,
    ...(page !== undefined && { size: (page as StoredPage).octets }),
  });
  return {
    op,
    ...(before !== undefined && { before: print(before) }),
    ...(after !== undefined && { after: print(after) }),
  };
}

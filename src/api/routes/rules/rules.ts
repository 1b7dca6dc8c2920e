// Rules of a domain for the edge: seven operations on twelve types. The path contains the type, with `-` or `_`.

import { z } from 'zod';
import { findRuleKind } from '../../../edge/rules/every-type.ts';
import type { RuleKind } from '../../../edge/rules/rule-kind.ts';
import { loadDomainChange } from '../../../store/records/load-changes.ts';
import {
  countRules,
  judgeRuleGates,
  listRules,
  loadRule,
  loadRulesWithIds,
  loadUnsupported,
} from '../../../store/rules/load-rules.ts';
import type { Rule as StoredRule } from '../../../store/rules/rule.ts';
import { created, deleted, ruleValueIn, updated, type WrittenRule } from '../../../store/rules/rule.ts';
import { allocateRuleIds } from '../../../store/rules/write-rules.ts';
import { type FieldProblem, invalid, notFound, Problem, problem } from '../../answers/problem.ts';
import { answerList, PAGE_QUERY } from '../../calls/answer-list.ts';
import type { AnswerHeader, CallOf } from '../../calls/call.ts';
import { domain, type Route, route } from '../../calls/route.ts';
import { printRule, printWholeRule } from '../../print/print-rule.ts';
import { idText, Message } from '../../schemas/fields.ts';
import { type PrintedRule, Rule, RuleCreate, RuleOrder, RuleUpdate } from '../../schemas/rules.ts';
import {
  changeRule,
  type FoundRule,
  gateProblem,
  judgeRule,
  readChangedRule,
  readNewRule,
  writeRules,
} from './save-rules.ts';

const tag = 'Rules';
const COLLECTION = '/domains/{domain}/rules/{type}/';
const ITEM = '/domains/{domain}/rules/{type}/{id}';
const answerHeaders: readonly AnswerHeader[] = ['X-Change-Id', 'X-Zone-Serial'];
const gates = ['plan_feature'] as const;

const TypePath = z.object({
  type: z
    .string()
    .max(64)
    .describe('The type, with `-` or `_`, such as `waf`, `rate-limit` or `rate_limit`.'),
});
const RulePath = TypePath.extend({ id: idText });

type Finding<P> = CallOf<'domain', P>;

function kindIn({ params }: Finding<z.output<typeof TypePath>>): RuleKind | Problem {
  return findRuleKind(params.type) ?? problem('unknown_rule_type', 'unknown rule type');
}

const ofType = { params: TypePath, find: async (call: Finding<z.output<typeof TypePath>>) => kindIn(call) };

const oneRule = {
  params: RulePath,
  async find(call: Finding<z.output<typeof RulePath>>): Promise<FoundRule | Problem | undefined> {
    const kind = kindIn(call);
    if (kind instanceof Problem) return kind;
    const rule = await loadRule(call.api.db, call.domain.id, kind.type, call.params.id);
    return rule && { kind, rule };
  },
  finds: 'rule',
};

const list = route(domain('domain.view'), {
  method: 'GET',
  path: COLLECTION,
  operationId: 'listRules',
  tag,
  summary: 'Lists the rules of one type, in the order of evaluation.',
  description:
    'Rules with equal priority are sorted by id. The text of an error page is returned only by `getRule`.',
  ...ofType,
  query: z.object(PAGE_QUERY),
  response: z.array(Rule),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { api, domain, found } = call;
    return answerList<StoredRule, PrintedRule>(call, {
      load: (page) => listRules(api.db, domain.id, found.type, page),
      count: () => countRules(api.db, domain.id, found.type),
      print: async (rules) => {
        const unsupported = await loadUnsupported(
          api.db,
          domain.id,
          rules.map(({ id }) => id),
        );
        return rules.map((rule) => printRead(rule, printRule(rule), unsupported));
      },
    });
  },
});

const create = route(domain('rules.edit'), {
  method: 'POST',
  path: COLLECTION,
  operationId: 'createRule',
  audit: 'changes',
  tag,
  summary: 'Creates a rule.',
  description:
    'The body depends on the type in the path. With an `Idempotency-Key`, the call can be repeated safely.',
  ...ofType,
  body: RuleCreate,
  response: Rule,
  answerHeaders,
  problems: [...gates, 'plan_limit', 'unknown_rule_type'],
  async run(call) {
    const { api, domain, found: kind } = call;
    const body = readNewRule(kind, call.body);
    if (body instanceof Problem) return body;
    const saved = await writeRules(call, async (locked) => {
      const count = (await countRules(locked.trx, locked.domainId, kind.type)) + 1;
      const judged = await judgeRule(locked, api, kind, body, { given: call.body, count });
      if (judged instanceof Problem) return judged;
      const [id] = (await allocateRuleIds(locked.trx, 1)) as [number];
      return [created(id, kind.type, judged.value, judged.html)];
    });
    if (saved instanceof Problem) return saved;
    const [{ operation }] = saved as [WrittenRule];
    const rule = await loadRule(api.db, domain.id, kind.type, operation.id);
    return rule === undefined ? notFound('rule') : printRule(rule);
  },
  async remake({ api, domain, changeId }) {
    const change = changeId === undefined ? undefined : await loadDomainChange(api.db, domain.id, changeId);
    const [operation] = change?.rules ?? [];
    if (change === undefined || operation?.after === undefined) return undefined;
    const { id, type, after } = operation;
    const at = { createdAt: change.at, updatedAt: change.at };
    return printRule({ id, domainId: domain.id, type, ...ruleValueIn(after), ...at });
  },
});

const reorder = route(domain('rules.edit'), {
  method: 'PATCH',
  path: `${COLLECTION}reorder`,
  operationId: 'reorderRules',
  audit: 'changes',
  tag,
  summary: 'Sets the priorities of several rules of one type.',
  description:
    'All or none: an id of another domain or type is refused with 404, and a repeated id with 400.',
  ...ofType,
  body: RuleOrder,
  response: z.object({ updated: z.int().min(0).describe('Number of rules whose priority changed.') }),
  answerHeaders,
  problems: [...gates, 'unknown_rule_type'],
  async run(call) {
    const { body: items, found: kind } = call;
    const repeated = findRepeated(items.map(({ id }) => id));
    if (repeated.length > 0) return invalid(repeated);
    const saved = await writeRules(call, async ({ trx, domainId, plan }) => {
      const ids = items.map(({ id }) => id);
      const rules = new Map((await loadRulesWithIds(trx, domainId, ids)).map((rule) => [rule.id, rule]));
      if (ids.some((id) => rules.get(id)?.type !== kind.type)) return notFound('rule');
      const shut = judgeRuleGates(plan);
      if (shut !== undefined) return gateProblem(shut);
      return items.flatMap(({ id, priority }) => {
        const rule = rules.get(id) as StoredRule;
        return updated(rule, { ...rule, body: { ...rule.body, priority } }) ?? [];
      });
    });
    return saved instanceof Problem ? saved : { updated: saved.length };
  },
});

const get = route(domain('domain.view'), {
  method: 'GET',
  path: ITEM,
  operationId: 'getRule',
  tag,
  summary: 'Returns a rule, including the text of an error page.',
  ...oneRule,
  response: Rule,
  async run({ api, domain, found: { rule } }) {
    return printRead(rule, printWholeRule(rule), await loadUnsupported(api.db, domain.id, [rule.id]));
  },
});

const update = route(domain('rules.edit'), {
  method: 'PUT',
  path: ITEM,
  operationId: 'updateRule',
  audit: 'changes',
  tag,
  summary: 'Changes fields of a rule.',
  description:
    'Fields that are left out stay unchanged, and read-only fields are ignored, so a response can be edited and sent back.',
  ...oneRule,
  body: RuleUpdate,
  response: Rule,
  answerHeaders,
  problems: [...gates, 'unknown_rule_type'],
  async run(call) {
    const { api, found } = call;
    const changed = await changeRule(call, async (locked, rule) => {
      const body = readChangedRule(found.kind, rule, call.body);
      if (body instanceof Problem) return body;
      const judged = await judgeRule(locked, api, found.kind, body, { given: call.body, rule });
      if (judged instanceof Problem) return judged;
      const { value, html } = judged;
      const isSettled = body.enabled || body.record_ids.length > 0;
      const kept = isSettled ? value : { ...value, disabledReason: rule.disabledReason };
      return updated(rule, kept, html);
    });
    return answerRule(changed);
  },
});

const remove = route(domain('rules.edit'), {
  method: 'DELETE',
  path: ITEM,
  operationId: 'deleteRule',
  audit: 'changes',
  tag,
  summary: 'Deletes a rule.',
  ...oneRule,
  response: Message,
  answerHeaders,
  problems: ['unknown_rule_type'],
  async run(call) {
    const answered = await changeRule(call, async (_, rule) => deleted(rule));
    return answered instanceof Problem ? answered : { message: 'rule deleted' };
  },
});

const toggle = route(domain('rules.edit'), {
  method: 'PATCH',
  path: `${ITEM}/toggle`,
  operationId: 'toggleRule',
  audit: 'changes',
  tag,
  summary: 'Enables a disabled rule, or disables an enabled one.',
  ...oneRule,
  response: Rule,
  answerHeaders,
  problems: [...gates, 'unknown_rule_type'],
  async run(call) {
    const changed = await changeRule(call, async ({ plan }, rule) => {
      const enabled = !rule.body.enabled;
      const shut = enabled ? judgeRuleGates(plan) : undefined;
      if (shut !== undefined) return gateProblem(shut);
      return updated(rule, { ...rule, body: { ...rule.body, enabled }, disabledReason: null });
    });
    return answerRule(changed);
  },
});

export const RULE_ROUTES: readonly Route[] = [list, create, reorder, get, update, remove, toggle];

function answerRule(changed: StoredRule | Problem | undefined): PrintedRule | Problem {
  if (changed === undefined) return notFound('rule');
  return changed instanceof Problem ? changed : printRule(changed);
}

/** Adds the edges that do not support the rule, unless it is disabled. */
function printRead(
  { id, body }: StoredRule,
  printed: PrintedRule,
  unsupported: Awaited<ReturnType<typeof loadUnsupported>>,
): PrintedRule {
  const by = body.enabled ? unsupported.get(id) : undefined;
  return by === undefined ? printed : { ...printed, unsupported: by };
}

function findRepeated(ids: readonly number[]): FieldProblem[] {
  const seen = new Set<number>();
  for (const [i, id] of ids.entries()) {
    if (seen.has(id)) return [{ field: `[${i}].id`, error: `rule ${id} is repeated` }];
    seen.add(id);
  }
  return [];
}

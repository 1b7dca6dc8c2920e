// Judges the body of a rule: by the schema of its type, then by what the domain has. The order of refusals is that of the API:
// 400 before the plan's.

import { judgeOrigin } from '../../../edge/judge-origin.ts';
import type { RuleBody, RuleKind } from '../../../edge/rules/rule-kind.ts';
import type { LockedForRules } from '../../../store/change/save-rules.ts';
import { findRoomFault, judgeRuleGates } from '../../../store/rules/judge-limits.ts';
import { findUnfitRecords } from '../../../store/rules/load-rules.ts';
import { loadOwnEdges } from '../../../store/rules/own-edges.ts';
import { type RuleValue, ruleValueOf, type WholeRule } from '../../../store/rules/rule-row.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { type FieldProblem, invalid, MAX_PROBLEMS, Problem, problem } from '../../answers/problem.ts';
import { fieldName } from '../../body/field-problems.ts';
import { judgeBody } from '../../body/judge-body.ts';
import type { Api } from '../../calls/call.ts';
import { READ_ONLY_FIELDS } from '../../schemas/rules.ts';

type Members = Readonly<Record<string, unknown>>;

/** The body of a new rule. */
export function readNewRule(kind: RuleKind, given: unknown): RuleBody | Problem {
  if (!isMembers(given)) return judge(kind, given);
  const { type, ...body } = given;
  if (type !== undefined && type !== kind.type)
    return invalid([{ field: 'type', error: `expected ${kind.type}, as in the path` }]);
  const scoped = readScope(body);
  return scoped instanceof Problem ? scoped : judge(kind, scoped);
}

/** The whole body that an update makes of a rule. */
export function readChangedRule(kind: RuleKind, rule: WholeRule, given: unknown): RuleBody | Problem {
  if (!isMembers(given)) return judge(kind, given);
  const asked = Object.fromEntries(
    Object.entries(given).filter(([name]) => !READ_ONLY_FIELDS.includes(name)),
  );
  const scoped = readScope(asked);
  if (scoped instanceof Problem) return scoped;
  const clears = asked.record_id === null && asked.record_ids === undefined;
  const { pageField } = kind;
  const current = { ...rule.body, ...(pageField !== undefined && { [pageField]: rule.html }) };
  return judge(kind, { ...current, ...scoped, ...(clears && { record_ids: [] }) });
}

function judge(kind: RuleKind, body: unknown): RuleBody | Problem {
  const judged = judgeBody({}, kind.schema, body);
  return judged instanceof Problem ? judged : (judged.body as RuleBody);
}

/** Makes `record_ids` of the deprecated `record_id`; null counts as left out. */
function readScope({ record_id: id, ...body }: Members): Members | Problem {
  if (id === undefined || id === null) return body;
  if (!Number.isSafeInteger(id) || (id as number) < 1)
    return invalid([{ field: 'record_id', error: 'expected an integer' }]);
  const { record_ids: ids = [id] } = body;
  if (Array.isArray(ids) && (ids.length !== 1 || ids[0] !== id))
    return invalid([{ field: 'record_id', error: 'differs from record_ids; record_ids alone is enough' }]);
  return { ...body, record_ids: ids };
}

function namesOne(given: unknown): boolean {
  return isMembers(given) && given.record_id !== undefined && given.record_ids === undefined;
}

function isMembers(given: unknown): given is Members {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

interface JudgedRule {
  readonly value: RuleValue;
  readonly html: string | undefined;
}

interface About {
  /** The body as it came. */
  readonly given: unknown;
  /** The rule that is changed; undefined: it is new. */
  readonly rule?: WholeRule;
  /** How many rules of the type there will be, where one is added. */
  readonly count?: number;
}

/** Judges a body by what the domain has, under its lock. */
export async function judgeRule(
  { trx, domainId, plan, edges }: LockedForRules,
  { originAllow: allowed = [] }: Pick<Api, 'originAllow'>,
  kind: RuleKind,
  body: RuleBody,
  { given, rule, count }: About,
): Promise<JudgedRule | Problem> {
  const found = await findUnfitRecords(trx, domainId, body.record_ids);
  const unfit = new Map(found.map(({ id, record }) => [id, record]));
  const faults: FieldProblem[] = body.record_ids.flatMap((id, i) => {
    const record = unfit.get(id);
    // a rule keeps records that have since lost their proxy
    if (!unfit.has(id) || (record !== undefined && rule?.body.record_ids.includes(id))) return [];
    const field = namesOne(given) ? 'record_id' : `record_ids[${i}]`;
    if (record === undefined) return [{ field, error: `the domain has no record ${id}` }];
    const shown = `${id} (${printWithoutDot(record.name)} ${record.type})`;
    return [{ field, error: `record ${shown} is not proxied: a rule applies to proxied records only` }];
  });
  const origins = kind.origins(body);
  const rules = { allowed, edges: origins.length === 0 ? [] : await loadOwnEdges(trx, edges) };
  for (const { path, host } of origins) {
    const error = judgeOrigin(host, rules);
    if (error !== undefined) faults.push({ field: fieldName(path), error });
  }
  if (faults.length > 0) return invalid(faults.slice(0, MAX_PROBLEMS));
  const judged = ruleValueOf(kind.type, body);
  const noRoom = await findRoomFault(trx, domainId, [judged.value], rule === undefined ? [] : [rule.id]);
  if (noRoom !== undefined) return invalid([noRoom]);
  const shut = judgeRuleGates(plan, count);
  return shut === undefined ? judged : gateProblem(shut);
}

export function gateProblem(refusal: NonNullable<ReturnType<typeof judgeRuleGates>>): Problem {
  const { code, message, ...members } = refusal;
  return problem(code, message, members);
}

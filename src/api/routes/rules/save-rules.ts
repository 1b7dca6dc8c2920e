// Validates and saves rules for the API. Each write is planned while the domain is locked, then saved or refused.

import { judgeOrigin } from '../../../edge/judge-origin.ts';
import type { RuleBody, RuleKind } from '../../../edge/rules/rule-kind.ts';
import { type LockedForRules, saveRules } from '../../../store/change/save-rules.ts';
import { loadOwnEdges } from '../../../store/rules/edge-rules.ts';
import {
  findRoomFault,
  findUnfitRecords,
  judgeRuleGates,
  loadRule,
} from '../../../store/rules/load-rules.ts';
import { type RuleValue, ruleValueOf, type WholeRule, type WrittenRule } from '../../../store/rules/rule.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import {
  type FieldProblem,
  invalid,
  MAX_PROBLEMS,
  notFound,
  Problem,
  problem,
} from '../../answers/problem.ts';
import { fieldName, judgeBody } from '../../body/field-problems.ts';
import { asActor } from '../../callers/caller.ts';
import type { Api, CallOf } from '../../calls/call.ts';
import { READ_ONLY_FIELDS } from '../../schemas/rules.ts';

type Members = Readonly<Record<string, unknown>>;

/** Returns the validated body of a new rule. */
export function readNewRule(kind: RuleKind, given: unknown): RuleBody | Problem {
  if (!isMembers(given)) return judge(kind, given);
  const { type, ...body } = given;
  if (type !== undefined && type !== kind.type)
    return invalid([{ field: 'type', error: `expected ${kind.type}, as in the path` }]);
  const scoped = readScope(body);
  return scoped instanceof Problem ? scoped : judge(kind, scoped);
}

/** Returns the complete body that an update results in. */
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

/** Converts the deprecated `record_id` to `record_ids`. null is treated as absent. */
function readScope({ record_id: id, ...body }: Members): Members | Problem {
  if (id === undefined || id === null) return body;
  if (!Number.isSafeInteger(id) || (id as number) < 1)
    return invalid([{ field: 'record_id', error: 'expected an integer' }]);
  const { record_ids: ids = [id] } = body;
  if (Array.isArray(ids) && (ids.length !== 1 || ids[0] !== id))
    return invalid([{ field: 'record_id', error: 'differs from record_ids: use only record_ids' }]);
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
  /** The body as received. */
  readonly given: unknown;
  /** The rule that is changed, or undefined for a new rule. */
  readonly rule?: WholeRule;
  /** If a rule is added: the number of rules of the type afterwards. */
  readonly count?: number;
}

/** Validates a body against the data of the locked domain. */
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
    // a rule keeps records that are no longer proxied
    if (!unfit.has(id) || (record !== undefined && rule?.body.record_ids.includes(id))) return [];
    const field = namesOne(given) ? 'record_id' : `record_ids[${i}]`;
    if (record === undefined) return [{ field, error: `the domain has no record ${id}` }];
    const shown = `${id} (${printWithoutDot(record.name)} ${record.type})`;
    return [{ field, error: `record ${shown} is not proxied: rules apply only to proxied records` }];
  });
  const origins = kind.origins(body);
  const rules = { allowed, edges: origins.length === 0 ? [] : await loadOwnEdges(trx, edges) };
  for (const { path, host } of origins) {
    const error = judgeOrigin(host, rules);
    if (error !== undefined) faults.push({ field: fieldName(path), error });
  }
  if (faults.length > 0) return invalid(faults.slice(0, MAX_PROBLEMS));
  const judged = ruleValueOf(kind.type, body);
  const overflow = await findRoomFault(trx, domainId, [judged.value], rule === undefined ? [] : [rule.id]);
  if (overflow !== undefined) return invalid([overflow]);
  const shut = judgeRuleGates(plan, count);
  return shut === undefined ? judged : gateProblem(shut);
}

export function gateProblem(refusal: NonNullable<ReturnType<typeof judgeRuleGates>>): Problem {
  const { code, message, ...members } = refusal;
  return problem(code, message, members);
}

/** The rule in the path, and its type. */
export interface FoundRule {
  readonly kind: RuleKind;
  readonly rule: WholeRule;
}

type WriteCall = Pick<CallOf<'domain'>, 'api' | 'caller' | 'domain' | 'answerHeader'>;

/** Plans the write while the domain is locked, and saves it. */
export async function writeRules(
  { api, caller, domain, answerHeader }: WriteCall,
  plan: (locked: LockedForRules) => Promise<readonly WrittenRule[] | Problem>,
): Promise<readonly WrittenRule[] | Problem> {
  const saved = await saveRules<Problem>(api.db, {
    domainId: domain.id,
    ownerId: domain.accountId,
    by: asActor(caller),
    source: 'api',
    async plan(locked) {
      const planned = await plan(locked);
      return planned instanceof Problem ? { refusal: planned } : { written: planned };
    },
  });
  if (saved.kind === 'refused_by_plan') return saved.refusal;
  if (saved.kind === 'refused')
    return saved.code === 'not_found' ? notFound('domain') : problem(saved.code, saved.message);
  if (saved.kind === 'saved') answerHeader('X-Change-Id', saved.changeId);
  answerHeader('X-Zone-Serial', saved.serial);
  return saved.kind === 'saved' ? saved.written : [];
}

/** Changes the rule in the path, as it is while the domain is locked. Returns undefined if it was deleted. */
export async function changeRule(
  call: WriteCall & { readonly found: FoundRule },
  plan: (locked: LockedForRules, rule: WholeRule) => Promise<WrittenRule | Problem | undefined>,
): Promise<WholeRule | Problem | undefined> {
  const { api, domain, found } = call;
  const { kind } = found;
  const { id } = found.rule;
  const saved = await writeRules(call, async (locked) => {
    const rule = await loadRule(locked.trx, domain.id, kind.type, id);
    if (rule === undefined) return notFound('rule');
    const planned = await plan(locked, rule);
    if (planned instanceof Problem) return planned;
    return planned === undefined ? [] : [planned];
  });
  if (saved instanceof Problem) return saved;
  if (saved[0]?.operation.op === 'delete') return undefined;
  return (await loadRule(api.db, domain.id, kind.type, id)) ?? notFound('rule');
}

// Saves rules for the API. Each write is planned under the domain's lock, then saved or rejected.

import type { RuleKind } from '../../../edge/rules/rule-kind.ts';
import { type LockedForRules, saveRules } from '../../../store/change/save-rules.ts';
import { loadRule } from '../../../store/rules/load-rules.ts';
import type { WrittenRule } from '../../../store/rules/rule-operations.ts';
import type { WholeRule } from '../../../store/rules/rule-row.ts';
import { notFound, Problem, problem } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import type { CallOf } from '../../calls/call.ts';

/** The rule that the path names, and its type. */
export interface FoundRule {
  readonly kind: RuleKind;
  readonly rule: WholeRule;
}

type WriteCall = Pick<CallOf<'domain'>, 'api' | 'caller' | 'domain' | 'answerHeader'>;

/** Plans the write under the domain's lock, and saves it. */
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

/** Changes the rule of the path, as it is under the lock. Returns undefined if it was deleted. */
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

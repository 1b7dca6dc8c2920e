// Saves the records that a caller of the API writes. The restrictions of the API key are checked while the domain is
// locked, against its current records. A repeated call with the same Idempotency-Key gets the same warnings.

import type { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import {
  type EditMaker,
  type EditOrder,
  type LockedDomain,
  type SavedEdit,
  saveEdit,
} from '../../store/change/save-edit.ts';
import type { SavedRevert } from '../../store/change/save-revert.ts';
import { type Edit, type EditProblem, idsTouched } from '../../zone/edit/edit.ts';
import type { EditText } from '../../zone/edit/parse-edit.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { warnOfEditText } from '../../zone/warnings/text-of-edit.ts';
import { showWarnings, WarningList } from '../../zone/warnings/zone-warning.ts';
import { notFound, Problem, problem } from '../answers/problem.ts';
import { asActor, judgeNarrowing, writesRecordsOnly } from '../callers/caller.ts';
import type { CallOf } from '../calls/call.ts';
import type { Warnings } from '../schemas/records/record.ts';

export type RecordsCall = Pick<CallOf<'head'>, 'api' | 'caller' | 'domain' | 'answerHeader' | 'leaveTurn'>;

export type Saved = Extract<SavedEdit, { kind: 'saved' | 'unchanged' | 'dry_run' }>;
type Explain = (problems: readonly EditProblem[]) => Problem;

export async function saveRecords(
  call: RecordsCall,
  { text, edit }: { readonly text: EditText; readonly edit: Edit },
  explain: Explain,
  { dryRun = false, owners = [] }: { readonly dryRun?: boolean; readonly owners?: readonly Name[] } = {},
): Promise<Saved | Problem> {
  const near = { apex: call.domain.name, owners };
  const answered = await saveJudged(call, edit, explain, { dryRun, warns: true, near });
  if (answered instanceof Problem || answered.kind === 'unchanged') return answered;
  const warnings = new WarningList();
  for (const warning of warnOfEditText(text, answered.ops)) warnings.add(warning);
  for (const warning of answered.warnings) warnings.add(warning);
  return { ...answered, warnings: warnings.list };
}

interface SaveOptions {
  readonly dryRun?: boolean;
  readonly warns?: boolean;
  readonly source?: 'api' | 'pdns';
  readonly near?: NonNullable<EditOrder['near']>;
}

/** Saves an edit, which may depend on the current records, unless the API key does not cover all of its records. */
export async function saveJudged(
  call: RecordsCall,
  edit: Edit | EditMaker,
  explain: Explain,
  { source = 'api', ...options }: SaveOptions = {},
): Promise<Saved | Problem> {
  const { api, caller, domain, leaveTurn } = call;
  let refused: Problem | undefined;
  const judged: EditMaker = async (locked) => {
    const made = typeof edit === 'function' ? await edit(locked) : edit;
    if ('kind' in made && made.kind === 'problems') return made;
    refused = judgeNarrowing(caller.key, await recordsWritten('kind' in made ? made.edit : made, locked));
    return refused === undefined ? made : { kind: 'problems', problems: [] };
  };
  const saved = await saveEdit(api.db, {
    domainId: domain.id,
    ownerId: domain.accountId,
    by: asActor(caller),
    source,
    countryOf: api.countryOf,
    originAllow: api.originAllow ?? [],
    onCommit: leaveTurn,
    ...options,
    edit: writesRecordsOnly(caller.key) ? judged : edit,
  });
  return refused ?? answerWrite(call, saved, explain);
}

/** Returns the result of a write, and sets its response headers. */
export function answerWrite(
  { domain, answerHeader }: RecordsCall,
  saved: Exclude<SavedRevert, { kind: 'conflict' | 'no_change' | 'nothing_to_revert' | 'lacking' }>,
  explain: Explain,
): Saved | Problem {
  if (saved.kind === 'problems') return explain(saved.problems);
  if (saved.kind === 'refused') {
    return saved.code === 'not_found' ? notFound('domain') : problem(saved.code, saved.message);
  }
  if (saved.kind === 'saved') answerHeader('X-Change-Id', saved.changeId);
  answerHeader('X-Zone-Serial', saved.kind === 'dry_run' ? domain.serial : saved.serial);
  return saved;
}

/** Returns the records before and after, without those that change only because their set's TTL changes. */
async function recordsWritten(edit: Edit, locked: LockedDomain): Promise<{ name: Name; type: string }[]> {
  const found = new Map((await locked.recordsWithIds(idsTouched(edit))).map((record) => [record.id, record]));
  const updated = edit.updates.flatMap(({ id, set }) => {
    const { name, type } = found.get(id) ?? ({} as Partial<CustomerRecord>);
    return name === undefined || type === undefined
      ? []
      : [{ name: set.name ?? name, type: set.type ?? type }];
  });
  return [...found.values(), ...updated, ...edit.replaces, ...edit.creates];
}

type Printed = z.input<typeof Warnings>;

/** Returns the warnings of a write, and stores them with the response. */
export function storeWarnings(
  { domain, answerRest }: Pick<CallOf<'head'>, 'domain' | 'answerRest'>,
  { warnings }: Saved,
): Printed {
  const printed = showWarnings(warnings, domain.name);
  if (printed.length > 0) answerRest({ warnings: printed });
  return printed;
}

/** Returns the warnings that were stored with the first response. */
export function readStoredWarnings(rest: unknown): Printed {
  return (rest as { readonly warnings: Printed } | undefined)?.warnings ?? [];
}

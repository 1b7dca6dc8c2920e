// Converts the problems of an edit to a response: by field for one record, by item for a batch. All problems of an
// edit have the same code (`planEditInPieces`), so the first one decides the response.

import type { EditList, EditProblem } from '../../zone/edit/edit.ts';
import {
  type FieldProblem,
  type ItemProblem,
  invalid,
  MAX_PROBLEMS,
  notFound,
  Problem,
  type ProblemMembers,
  problem,
} from '../answers/problem.ts';

export function explainOne(problems: readonly EditProblem[]): Problem {
  const [first] = problems as [EditProblem];
  if (first.code === 'invalid') {
    return invalid(
      problems.slice(0, MAX_PROBLEMS).map(({ field = 'body', message }) => ({ field, error: message })),
    );
  }
  return explain(first, {});
}

/** `listName` returns the name of a list in the call, if it differs from its usual name. */
export function explainBatch(
  problems: readonly EditProblem[],
  listName: (list: EditList) => string = (list) => list,
): Problem {
  const [first] = problems as [EditProblem];
  const items = problems.slice(0, MAX_PROBLEMS).map(({ list, index, field, message }) => ({
    list,
    index,
    ...(field !== undefined && { field }),
    error: message,
  }));
  const fields = items.map(({ list, index, field, error }) => ({
    field: `${listName(list)}[${index}]${field === undefined ? '' : `.${field}`}`,
    error,
  }));
  if (first.code === 'invalid') return invalid(fields, items);
  return explain(first, { items }, `${listName(first.list)}[${first.index}]: `);
}

/** The call itself is valid, but the domain is not in the required state. */
export function explainRevert(problems: readonly EditProblem[]): Problem {
  const [first] = problems as [EditProblem];
  if (first.code === 'invalid') return problem('wrong_state', first.message);
  return explain(first.code === 'not_found' ? { ...first, code: 'conflict' } : first, {});
}

const ITEM = /^(create|update|delete|replace|ids)\[(\d+)\](?:\.(.+))?$/;

/** Explains the errors that the schema of a batch found, with `items` in addition to `fields`. */
export function explainBatchFields(fields: readonly FieldProblem[]): Problem {
  const items = fields.flatMap(({ field, error }): ItemProblem[] => {
    const [, list, index, inside] = ITEM.exec(field) ?? [];
    if (list === undefined) return [];
    return [
      {
        list: list === 'ids' ? 'delete' : list,
        index: Number(index),
        ...(inside !== undefined && { field: inside }),
        error,
      },
    ];
  });
  return invalid(fields, items.length > 0 ? items : undefined);
}

function explain(
  { code, message, limit, feature }: EditProblem,
  members: ProblemMembers,
  place = '',
): Problem {
  const error = `${place}${message}`;
  switch (code) {
    case 'not_found':
      return members.items === undefined ? notFound('record') : new Problem(404, error, { members });
    case 'invalid':
      return problem('validation_failed', error, members);
    case 'plan_feature':
      return problem(code, error, { ...members, ...(feature !== undefined && { feature }) });
    case 'plan_limit':
      return problem(code, error, { ...members, ...(limit !== undefined && { limit }) });
    case 'managed':
      return problem('record_managed', error, members);
    case 'conflict':
      return problem('record_conflict', error, members);
    default:
      return code satisfies never;
  }
}

// Validates a body with the schema of its route, and describes the errors field by field, including unknown members.

import type { z } from 'zod';
import { type FieldProblem, invalid, MAX_PROBLEMS, type Problem } from '../answers/problem.ts';
import type { Route } from '../calls/route.ts';

type Issue = z.core.$ZodIssue;

interface Part {
  /** The name of the value as a whole, which has no field name. */
  readonly whole: string;
  /** Error text for an unknown member. */
  readonly unknown: string;
}

export const BODY: Part = { whole: 'body', unknown: 'unknown field' };
export const QUERY: Part = { whole: 'query', unknown: 'unknown parameter' };

/** Lists each field once, and at most as many fields as a person can read. */
export function fieldProblems(issues: readonly Issue[], { whole, unknown }: Part): FieldProblem[] {
  const found: FieldProblem[] = [];
  for (const issue of issues.flatMap(issuesOfMatchingForm)) {
    if (found.length >= MAX_PROBLEMS) break;
    const field = fieldName(issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        found.push({ field: field === '' ? key : `${field}.${key}`, error: unknown });
      }
    } else if (found.at(-1)?.field !== (field || whole)) {
      found.push({ field: field || whole, error: explain(issue) });
    }
  }
  return found.slice(0, MAX_PROBLEMS);
}

/** For a field with several forms: returns the errors of the one form whose type matches the value. */
function issuesOfMatchingForm(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [matching, ...others] = issue.errors.filter((problems) => !problems.some(isOtherType));
  if (matching === undefined || others.length > 0) return [issue];
  return matching
    .map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
    .flatMap(issuesOfMatchingForm);
}

function isOtherType({ code, path }: Issue): boolean {
  return code === 'invalid_type' && path.length === 0;
}

/** Prints a path as `records[2].destination`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step}]`;
    return name === '' ? String(step) : `${name}.${String(step)}`;
  }, '');
}

function explain(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_union': {
      const types = issue.errors.flat().filter(isOtherType).map(explain);
      return types.length === 0 ? issue.message : types.join(' or ').replaceAll('or expected ', 'or ');
    }
    case 'invalid_type': {
      if (issue.message.endsWith('received undefined')) return 'is required';
      return `expected ${article(String(issue.expected) === 'int' ? 'integer' : String(issue.expected))}`;
    }
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `expected ${measure(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `expected ${measure(issue.origin, 'at most', issue.maximum)}`;
    default:
      return issue.message;
  }
}

function article(type: string): string {
  if (type === 'nonoptional') return 'a value';
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}

function measure(origin: string, bound: string, count: number | bigint): string {
  const unit: Record<string, string> = { string: ' characters', array: ' items' };
  return `${bound} ${count}${unit[origin] ?? ''}`;
}

export function judgeBody(
  route: Pick<Route, 'explainInvalid'>,
  schema: z.ZodType,
  given: unknown,
): { readonly body: unknown } | Problem {
  const read = schema.safeParse(given);
  if (read.success) return { body: read.data };
  const fields = fieldProblems(read.error.issues, BODY);
  return route.explainInvalid?.(fields) ?? invalid(fields);
}

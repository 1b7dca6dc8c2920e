// Fields of rules of every type: the requests that a rule matches, if it is enforced, and its priority.

import { z } from 'zod';
import { isSafeForBacktracking, judgeRegex, MAX_REGEX_CHARACTERS } from '../judge-regex.ts';
import { distinct, line } from './text-fields.ts';

export const MAX_PRIORITY = 1_000_000;
/** Per domain. */
export const MAX_RULES_OF_A_TYPE = 1000;
const MAX_RECORD_IDS = 1000;
const MAX_PATHS = 64;
const MAX_HOST_CHARACTERS = 255;
/** Each one makes matching slower. */
const MAX_STARS = 16;
/** Total compilation cost of all regular expressions of one rule. */
const MAX_REGEX_SIZE = 24_000;

const path = line(MAX_REGEX_CHARACTERS, 1);

/** Fields of request bodies. `readScope` converts `record_id` and `record_ids` beforehand. */
export const COMMON_FIELDS = {
  record_ids: distinct(z.int().min(1), MAX_RECORD_IDS)
    .default([])
    .describe('Records to whose names the rule applies. Empty: the whole domain.'),
  enabled: z.boolean().default(true),
  priority: z
    .int()
    .min(0)
    .max(MAX_PRIORITY)
    .default(100)
    .describe('Rules with lower numbers are evaluated first.'),
  host_pattern: line(MAX_REGEX_CHARACTERS)
    .default('')
    .describe('Host filter. In a wildcard, `*` matches any labels. Empty: every host.'),
  host_match_type: z
    .enum(['', 'exact', 'wildcard', 'regex'])
    .default('')
    .describe('Required with `host_pattern`, otherwise empty.'),
  action_mode: z
    .enum(['enforce', 'dry_run'])
    .default('enforce')
    .describe('`dry_run`: matches are only logged. Not every rule type supports it.'),
  path_match_type: z
    .enum(['wildcard', 'regex'])
    .default('wildcard')
    .describe(
      'Syntax of both path lists. A wildcard must match the whole path, a regular expression may match anywhere in it.',
    ),
  path_includes: distinct(path, MAX_PATHS, 1)
    .default(['/*'])
    .describe('At least one of these must match the path.'),
  path_excludes: distinct(path, MAX_PATHS).default([]).describe('None of these may match the path.'),
};

export type CommonFields = { [K in keyof typeof COMMON_FIELDS]: z.output<(typeof COMMON_FIELDS)[K]> };

interface Faults {
  add(path: PropertyKey[], message: string): void;
}

/** Checks that involve more than one field. */
export function judgeCommon(rule: CommonFields, faults: Faults): void {
  const budget = { left: MAX_REGEX_SIZE };
  judgeHost(rule, faults, budget);
  for (const list of ['path_includes', 'path_excludes'] as const) {
    for (const [i, text] of rule[list].slice(0, MAX_PATHS).entries()) {
      const fault = rule.path_match_type === 'regex' ? regexFault(text, budget) : pathFault(text);
      if (fault !== undefined) faults.add([list, i], fault);
    }
  }
}

function judgeHost(
  { host_pattern: pattern, host_match_type: type }: CommonFields,
  faults: Faults,
  budget: { left: number },
): void {
  if (pattern === '') {
    if (type !== '') faults.add(['host_pattern'], `is required with host_match_type ${type}`);
    return;
  }
  const fault =
    type === ''
      ? undefined
      : type === 'regex'
        ? regexFault(pattern, budget)
        : hostFault(pattern, type === 'wildcard');
  if (type === '') faults.add(['host_match_type'], 'is required with host_pattern: exact, wildcard or regex');
  if (fault !== undefined) faults.add(['host_pattern'], fault);
}

function regexFault(text: string, budget: { left: number }): string | undefined {
  if (budget.left < 0) return 'the regular expressions of this rule together are too large';
  const judged = judgeRegex(text);
  if (judged.kind === 'problem') return judged.message;
  budget.left -= judged.size;
  return budget.left < 0 ? 'the regular expressions of this rule together are too large' : undefined;
}

function pathFault(text: string): string | undefined {
  if (!/^[/*]/.test(text)) return 'expected a path that begins with "/" or "*"';
  return starsFault(text);
}

function starsFault(text: string): string | undefined {
  return text.split('*').length - 1 > MAX_STARS ? `expected at most ${MAX_STARS} "*"` : undefined;
}

const HOST = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const WILDCARD_HOST = /^[a-z0-9_*-]{1,63}(\.[a-z0-9_*-]{1,63})*$/;

function hostFault(text: string, isWildcard: boolean): string | undefined {
  if (text.length > MAX_HOST_CHARACTERS) return `expected at most ${MAX_HOST_CHARACTERS} characters`;
  if (!(isWildcard ? WILDCARD_HOST : HOST).test(text))
    return `expected a host name in lower case, as A-labels${isWildcard ? ', with "*"' : ''}, without a port`;
  return isWildcard ? starsFault(text) : undefined;
}

/** Returns the filters in the format of the edge configuration. */
export function matchOf(rule: CommonFields) {
  const {
    host_pattern: pattern,
    host_match_type: type,
    path_includes: includes,
    path_excludes: excludes,
  } = rule;
  const regexes = [
    ...(type === 'regex' ? [pattern] : []),
    ...(rule.path_match_type === 'regex' ? [...includes, ...excludes] : []),
  ];
  return {
    ...(type !== '' && { host: { type, pattern } }),
    path: { type: rule.path_match_type, includes, excludes },
    ...(!regexes.every(isSafeForBacktracking) && { needs_linear_engine: true as const }),
  };
}

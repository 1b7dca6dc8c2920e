// The fields that rules of every type have: which requests a rule is for, whether it acts, and when it has its turn.

import { z } from 'zod';
import { isSafeForBacktracking, judgeRegex, MAX_REGEX_CHARACTERS } from '../judge-regex.ts';
import { distinct, line } from './text-fields.ts';

export const MAX_PRIORITY = 1_000_000;
/** Of one domain. */
export const MAX_RULES_OF_A_TYPE = 1000;
const MAX_RECORD_IDS = 1000;
const MAX_PATHS = 64;
const MAX_HOST_CHARACTERS = 255;
/** Each makes the time of a match longer. */
const MAX_STARS = 16;
/** Of all regular expressions of one rule together: what compiling them costs. */
const MAX_REGEX_SIZE = 24_000;

const path = line(MAX_REGEX_CHARACTERS, 1);

/** As bodies have them. `record_id` beside `record_ids` is read before (`readScope`). */
export const COMMON_FIELDS = {
  record_ids: distinct(z.int().min(1), MAX_RECORD_IDS)
    .default([])
    .describe('The records whose names the rule is for. Empty: the whole domain.'),
  enabled: z.boolean().default(true),
  priority: z.int().min(0).max(MAX_PRIORITY).default(100).describe('Lower ones have their turn first.'),
  host_pattern: line(MAX_REGEX_CHARACTERS)
    .default('')
    .describe('A filter of hosts. In a wildcard `*` stands for any labels. Empty: every host.'),
  host_match_type: z
    .enum(['', 'exact', 'wildcard', 'regex'])
    .default('')
    .describe('Empty exactly when `host_pattern` is.'),
  action_mode: z
    .enum(['enforce', 'dry_run'])
    .default('enforce')
    .describe('`dry_run`: matches are only logged. Not every type heeds it.'),
  path_match_type: z
    .enum(['wildcard', 'regex'])
    .default('wildcard')
    .describe(
      'How both lists of paths are read. A wildcard is matched with the whole path, a regular expression anywhere in it.',
    ),
  path_includes: distinct(path, MAX_PATHS, 1).default(['/*']).describe('One of them must match the path.'),
  path_excludes: distinct(path, MAX_PATHS).default([]).describe('None of them may match the path.'),
};

export type CommonFields = { [K in keyof typeof COMMON_FIELDS]: z.output<(typeof COMMON_FIELDS)[K]> };

interface Faults {
  add(path: PropertyKey[], message: string): void;
}

/** What no field can be judged for alone. */
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
    if (type !== '')
      faults.add(['host_pattern'], `is needed with host_match_type ${type}; both are set or both empty`);
    return;
  }
  const fault =
    type === ''
      ? undefined
      : type === 'regex'
        ? regexFault(pattern, budget)
        : hostFault(pattern, type === 'wildcard');
  if (type === '') faults.add(['host_match_type'], 'is needed with host_pattern: exact, wildcard or regex');
  if (fault !== undefined) faults.add(['host_pattern'], fault);
}

function regexFault(text: string, budget: { left: number }): string | undefined {
  if (budget.left < 0) return 'the regular expressions of this rule are too large together';
  const judged = judgeRegex(text);
  if (judged.kind === 'problem') return judged.message;
  budget.left -= judged.size;
  return budget.left < 0 ? 'the regular expressions of this rule are too large together' : undefined;
}

function pathFault(text: string): string | undefined {
  if (!/^[/*]/.test(text)) return 'a path begins with "/", or with "*"';
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

/** The filters as an edge is told them. */
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

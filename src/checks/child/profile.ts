// A profile selects the findings that a child check reports and their severities. Its keys are codes or Zonemaster test
// cases. A test case applies to all of its codes, but a code takes precedence over its test case.

import {
  CHILD_CODE_LIST,
  CHILD_CODES,
  type ChildCode,
  SEVERITIES,
  type Severity,
  testOf,
} from './child-codes.ts';

/** Severity by code. Codes that are not listed are not reported. */
export type ChildProfile = ReadonlyMap<ChildCode, Severity>;

export const DEFAULT_PROFILE: ChildProfile = new Map(
  CHILD_CODE_LIST.map((code) => [code, CHILD_CODES[code].severity]),
);

type ReadProfile =
  | { readonly kind: 'profile'; readonly profile: ChildProfile }
  /** `message` names the invalid member. */
  | { readonly kind: 'problem'; readonly message: string };

const WORDS: readonly string[] = [...SEVERITIES, 'off'];

/** Parses the JSON text of a profile, an object such as `{"delegation03": "off", "TCP_REFUSED": "notice"}`. */
export function readProfile(text: string): ReadProfile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return problem(`invalid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return problem('a profile must be a JSON object with a severity for each code');
  }
  const members = Object.entries(value);
  const tests = new Set(CHILD_CODE_LIST.map(testOf));
  for (const [key, word] of members) {
    if (!isCode(key) && !tests.has(key)) return problem(`"${key}" is neither a code nor a test case`);
    if (typeof word !== 'string' || !WORDS.includes(word)) {
      return problem(`"${key}" must be one of ${WORDS.join(', ')}`);
    }
  }
  const wanted = new Map(members as [string, Severity | 'off'][]);
  const profile = new Map<ChildCode, Severity>();
  for (const code of CHILD_CODE_LIST) {
    const severity = wanted.get(code) ?? wanted.get(testOf(code) ?? '') ?? CHILD_CODES[code].severity;
    if (severity !== 'off') profile.set(code, severity);
  }
  return { kind: 'profile', profile };
}

function isCode(key: string): boolean {
  return (CHILD_CODE_LIST as readonly string[]).includes(key);
}

function problem(message: string): ReadProfile {
  return { kind: 'problem', message };
}

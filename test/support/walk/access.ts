// Reads fixtures/api-access: the outcome of each operation for each caller.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../api/api.ts';

/** Groups of callers by name. */
type Groups = Readonly<Record<string, readonly string[]>>;

export interface Outcome {
  readonly status: number;
  readonly reason: string | undefined;
}

/** Reasons of errors without a code, with the beginning of `error`. */
const REASONS: Readonly<Record<string, RegExp>> = {
  'read-only key': /^read-only API key$/,
  'limited key': /^this API key (is restricted|may write only certain records)/,
  'role too low': /^your role lacks /,
  'keys not accepted': /^API keys may not use this path$/,
  removed: /^route_removed$/,
  'not a reseller': /^this account is not a reseller$/,
  'session required': /^this call requires a session$/,
  'not your client': /^this id does not belong to one of your clients$/,
};
const UNAUTHENTICATED = /^(a valid API key is required|the headers x-vantage-name|the notice is not signed)/;
const NO_SUCH_METHOD = /^this path does not support/;

/** The column in which the callers begin. */
const CALLERS_AT = 26;

/** Throws an error that names the line if a caller is unknown, or if an operation or a caller is listed twice. */
export function readAccess<C extends string>(
  file: string,
  callers: readonly C[],
  groups: Groups,
): Map<string, Map<C, Outcome>> {
  const text = readFileSync(join(import.meta.dirname, '../../../fixtures/api-access', file), 'utf8');
  const access = new Map<string, Map<C, Outcome>>();
  for (const section of text
    .replaceAll(/^#.*\n/gm, '')
    .trim()
    .split(/\n\n+/)) {
    const lines = section.split('\n');
    const outcomes = readOutcomes(
      lines.filter((line) => line.startsWith('  ')),
      callers,
      groups,
    );
    for (const operation of lines.filter((line) => !line.startsWith('  '))) {
      if (access.has(operation)) throw new Error(`${file}: ${operation} is listed twice`);
      access.set(operation, outcomes);
    }
  }
  return access;
}

function readOutcomes<C extends string>(
  lines: readonly string[],
  callers: readonly C[],
  groups: Groups,
): Map<C, Outcome> {
  const named = new Map<string, Outcome>();
  let others: Outcome | undefined;
  for (const line of lines) {
    const [status = '', ...words] = line.slice(0, CALLERS_AT).trim().split(' ');
    const list = line.slice(CALLERS_AT);
    const outcome = { status: Number(status), reason: words.length === 0 ? undefined : words.join(' ') };
    if (list === 'all others' || list === 'all callers') {
      others = outcome;
      continue;
    }
    for (const caller of list.split(', ').flatMap((name) => groups[name] ?? [name])) {
      if (!callers.includes(caller as C) || named.has(caller))
        throw new Error(`"${caller}" is unknown or listed twice: ${line}`);
      named.set(caller, outcome);
    }
  }
  return new Map(
    callers.map((caller) => {
      const outcome = named.get(caller) ?? others;
      if (outcome === undefined) throw new Error(`no outcome for ${caller}: ${lines.join('\n')}`);
      return [caller, outcome];
    }),
  );
}

/** Returns the difference between a response and the expected outcome. Returns undefined if there is none. */
export function differenceFrom({ status, reason }: Outcome, answer: Answer): string | undefined {
  const isExpected =
    answer.status === status && (status < 400 || answer.body === undefined || hasReason(answer.body));
  return isExpected
    ? undefined
    : `expected ${status} ${reason ?? ''}, received ${answer.status} ${JSON.stringify(answer.body).slice(0, 150)}`;

  function hasReason({ code, error }: { code?: string; error: string }): boolean {
    const begin = reason === undefined ? undefined : REASONS[reason];
    if (reason !== undefined && begin === undefined) return code === reason;
    const expected = begin ?? { 401: UNAUTHENTICATED, 405: NO_SUCH_METHOD }[status] ?? /^/;
    return code === undefined && expected.test(error);
  }
}

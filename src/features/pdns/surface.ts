// Converts problems to the errors of the PowerDNS API: `{"error": text}`.

import { CompatAnswer, type CompatSurface } from '../../api/answers/compat-answer.ts';
import type { Problem } from '../../api/answers/problem.ts';
import { SERVER } from './print.ts';

export const ZONES = `${SERVER}/zones`;
/** Path of a zone. The guard of a route finds the domain. */
export const ZONE = `${ZONES}/{domain}`;

export const PDNS: CompatSurface = { name: 'pdns', explain };

function explain(problem: Problem): CompatAnswer {
  const { status, error, headers, members, code } = problem;
  if (status === 401) return fail(401, 'Unauthorized', { 'WWW-Authenticate': 'X-API-Key realm="PowerDNS"' });
  if (status === 404) return fail(404, error.startsWith('TSIG') ? error : 'Not Found', headers);
  const errors = (members.fields ?? []).map((field) => `${field.field}: ${field.error}`);
  // These clients expect 422 whenever the content is refused.
  return fail(code !== undefined && REFUSALS.has(code) ? 422 : status, error, headers, errors);
}

const REFUSALS: ReadonlySet<string> = new Set([
  'validation_failed',
  'wrong_state',
  'address_refused',
  'plan_feature',
  'plan_limit',
  'record_conflict',
  'record_managed',
  'domain_secondary',
  'dnssec_busy',
  'dnssec_verbatim',
  'dnssec_algorithm',
  'dnssec_imported',
  'tsig_key_in_use',
] satisfies NonNullable<Problem['code']>[]);

function fail(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>>,
  errors: readonly string[] = [],
): CompatAnswer {
  return CompatAnswer.json({ error, ...(errors.length > 1 && { errors }) }, { status, headers });
}

export const NO_CONTENT = new CompatAnswer(undefined, { status: 204 });

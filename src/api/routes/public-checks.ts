// Public checks of the delegation of any name (setting PUBLIC_CHECK): shows the last one, and makes a new one. Sessions and
// stored data are ignored, so that the response and its time do not reveal which domains are customers'.

import { z } from 'zod';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { invalid, PROBLEM_CODES, Problem, unavailable } from '../answers/problem.ts';
import { everyone, type Route, route } from '../calls/route.ts';
import { printEvidence } from '../print/print-check.ts';
import { judgePublicName } from '../public/public-checks.ts';
import { PublicCheck } from '../schemas/checks/check.ts';

const tag = 'Public checks';
const RETRY_SECONDS = 5;
/** Longer than any name in any form. `judgePublicName` validates the rest. */
const NameText = z.string().min(1).max(1100);

const getPublicCheck = route(everyone, {
  method: 'GET',
  path: '/public/checks',
  operationId: 'getPublicCheck',
  tag,
  summary: 'Shows the last check of a delegation.',
  description:
    'For everyone, without a key, where the service has `PUBLIC_CHECK=on`; else a 404. It asks nobody: `check` is absent where nobody had the name looked at lately.',
  query: z.object({ name: NameText }),
  response: PublicCheck,
  problems: ['validation_failed'],
  statuses: [404],
  async run({ api, query }) {
    if (api.publicChecks === undefined) return OFF;
    const read = judgePublicName(query.name, api.allowReservedNames);
    if (read.kind === 'problem') return invalid([{ field: 'name', error: read.message }]);
    return print(read, api.publicChecks.last(read.name));
  },
});

const askPublicCheck = route(everyone, {
  method: 'POST',
  path: '/public/checks',
  operationId: 'askPublicCheck',
  audit: { none: 'it writes nothing' },
  tag,
  summary: 'Checks the delegation of any name.',
  description:
    'For everyone, without a key, where the service has `PUBLIC_CHECK=on`; else a 404. Walks from the root to the zone above the name and asks its servers, within 15 seconds. One address may ask 10 times a minute (429), an IPv6 /64 counting as one; a name that was looked at within 5 minutes is answered with that look. A 503: too many ask at once.',
  body: z.object({ name: NameText }),
  response: PublicCheck,
  problems: ['validation_failed', 'rate_limited'],
  statuses: [404],
  async run({ api, body, asker }) {
    if (api.publicChecks === undefined) return OFF;
    const read = judgePublicName(body.name, api.allowReservedNames);
    if (read.kind === 'problem') return invalid([{ field: 'name', error: read.message }]);
    const asked = await api.publicChecks.ask(read.name, asker.address);
    if (asked.kind === 'limited') return limited(asked.retryAfterSeconds);
    if (asked.kind === 'busy')
      return unavailable('too many names are looked at now; try again', RETRY_SECONDS);
    return print(read, asked.evidence);
  },
});

const OFF = new Problem(404, 'path not found');

type Read = Extract<ReturnType<typeof judgePublicName>, { kind: 'name' }>;

function limited(retryAfterSeconds: number): Problem {
  return new Problem(
    PROBLEM_CODES.rate_limited,
    'this address has asked for too many looks within a minute',
    {
      code: 'rate_limited',
      headers: { 'Retry-After': String(retryAfterSeconds) },
    },
  );
}

function print({ name, unicode }: Read, evidence: Evidence | undefined): z.input<typeof PublicCheck> {
  return {
    name: printWithoutDot(name),
    name_unicode: unicode,
    ...(evidence !== undefined && {
      check: {
        checked_at: new Date(evidence.finishedAt).toISOString(),
        ...(evidence.parent !== undefined && { parent: printWithoutDot(evidence.parent) }),
        queries: evidence.queries,
        ...printEvidence(evidence),
      },
    }),
  };
}

export const PUBLIC_CHECK_ROUTES: readonly Route[] = [getPublicCheck, askPublicCheck];

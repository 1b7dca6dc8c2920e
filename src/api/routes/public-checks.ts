// Public checks of the delegation of any name (setting PUBLIC_CHECK): returns the last one, and makes a new one. They
// ignore sessions and stored data, so that the response and its duration do not reveal which domains are customers'.

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
  summary: 'Returns the last public check of a delegation.',
  description:
    'Available to anyone, without a credential, if the service has `PUBLIC_CHECK=on`. Otherwise responds 404. Sends no queries: `check` is absent if the name was not checked recently.',
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
    'Available to anyone, without a credential, if the service has `PUBLIC_CHECK=on`. Otherwise responds 404. Follows the delegations from the root to the parent zone and queries its servers, within 15 seconds. One IPv4 address or IPv6 /64 may send 10 requests per minute (429). If the name was checked within 5 minutes, returns that check. A 503 means that too many checks are running.',
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
    if (asked.kind === 'busy') return unavailable('too many checks are running; try again', RETRY_SECONDS);
    return print(read, asked.evidence);
  },
});

const OFF = new Problem(404, 'path not found');

type Read = Extract<ReturnType<typeof judgePublicName>, { kind: 'name' }>;

function limited(retryAfterSeconds: number): Problem {
  return new Problem(PROBLEM_CODES.rate_limited, 'this address requested too many checks within a minute', {
    code: 'rate_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
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

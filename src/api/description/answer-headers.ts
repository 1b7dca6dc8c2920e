// The headers of answers, described once and referred to by each answer that has them.

import type { OpenAPIV3_1 } from 'openapi-types';

export const HEADERS: Readonly<Record<string, OpenAPIV3_1.HeaderObject>> = {
  'X-Request-Id': { description: 'Names this request in reports.', schema: { type: 'string' } },
  'RateLimit-Limit': {
    description: 'Requests in any 60 seconds for this key, or for the sessions of this account.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'How many are left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until there is one more.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotent-Replay': {
    description: '`true`: the call was not made again, this is the first answer.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Change-Id': {
    description: 'The change that this call made, if it changed anything.',
    schema: { type: 'integer' },
  },
  'X-Zone-Serial': { description: 'The serial of the zone after it.', schema: { type: 'integer' } },
  Link: {
    description: 'The next page: `rel="next"`, and of domains the one before: `rel="prev"`.',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description:
      'With `count=true`: all items there are. Of logs, accounts, clients and services 10001 means more than 10,000.',
    schema: { type: 'integer' },
  },
  'Content-Disposition': { description: 'A name for the file.', schema: { type: 'string' } },
  'Content-Security-Policy': {
    description: 'The page runs and loads nothing.',
    schema: { type: 'string' },
  },
  'X-Accel-Buffering': {
    description: '`no`: a proxy passes it on as it comes.',
    schema: { type: 'string', enum: ['no'] },
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
};

export function headers(names: readonly string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

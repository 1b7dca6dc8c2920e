// Sends requests to another origin than that of their record.

import { z } from 'zod';
import { hostHeader, originHost, originPort } from './origin-fields.ts';
import { ruleKind } from './rule-kind.ts';

export const originRoute = ruleKind({
  type: 'origin_route',
  what: 'Sends requests to another origin.',
  fields: {
    destination: originHost.describe('A host name or an address.'),
    port: originPort,
    scheme: z
      .enum(['http', 'https', 'auto', 'default'])
      .default('https')
      .describe('`default`: the scheme of the request. `auto`: the edge probes.'),
    host_header: hostHeader,
  },
  gate: 'rules',
  countsDryRun: false,
  origins: ({ destination }) => [{ path: ['destination'], host: destination }],
  toEdge: ({ destination, port, scheme, host_header }) => ({
    type: 'origin_route',
    destination,
    port,
    scheme,
    ...(host_header !== '' && { host_header }),
  }),
});

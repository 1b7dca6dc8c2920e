// What the surface of resellers has beside the calls for a client's domain: one line for each operation, as `resellers.ts` says.

import type { Row, Sent } from './table.ts';

const FUNDED: Sent = { body: () => ({ amount_rials: 1 }), prepare: (w) => w.fund() };
const ofFreeTerm: Sent = { body: async (w) => ({ plan_term_id: await w.freeTermId() }) };

export const RESELLER_WALK: Readonly<Record<string, Row>> = {
  'GET /reseller/v1/whoami': ['0000 sl i ... .'],
  'GET /reseller/v1/tokens': ['0000 sl i .t. .'],
  'POST /reseller/v1/tokens': ['0000 sl i .tc .', { body: () => ({ name: 'walk' }) }],
  'DELETE /reseller/v1/tokens/{id}': ['0000 sl i .tc n'],
  'GET /reseller/v1/clients': ['0000 sl i ... .'],
  'POST /reseller/v1/clients': ['0000 sl i ... .', { body: (w) => ({ email: `made-${w.email}` }) }],
  'GET /reseller/v1/clients/{clientId}': ['0000 sl i ... o'],
  'PATCH /reseller/v1/clients/{clientId}': ['0000 sl i ... o', { body: () => ({ name: 'Another' }) }],
  'POST /reseller/v1/clients/{clientId}/deactivate': ['0000 sl i ... o'],
  'POST /reseller/v1/clients/{clientId}/activate': ['0000 sl i ... o'],
  'GET /reseller/v1/clients/{clientId}/wallet': ['0000 sl i ... o'],
  'POST /reseller/v1/clients/{clientId}/credit': ['0000 sl i ... o', FUNDED],
  'POST /reseller/v1/clients/{clientId}/debit': ['0000 sl i ... o', FUNDED],
  'GET /reseller/v1/wallet': ['0000 sl i ... .'],
  'GET /reseller/v1/analytics/dns': [
    '0000 sl i ... o',
    { query: async (w) => `domain=${await w.parameter('', 'domain')}` },
  ],
  'GET /reseller/v1/services': ['0000 sl i ... .'],
  'POST /reseller/v1/services': [
    '0000 sl i ... o',
    {
      body: async (w) => ({
        client_id: w.clientId,
        domain: `service-${w.unique}.test`,
        plan_term_id: await w.freeTermId(),
      }),
    },
  ],
  'GET /reseller/v1/services/{serviceId}': ['0000 sl i ... o'],
  'POST /reseller/v1/services/{serviceId}/change-plan': ['0000 sl i ... o', ofFreeTerm],
  'DELETE /reseller/v1/services/{serviceId}': ['0000 sl i ... o', { prepare: (w) => w.havePlan() }],
};

// Who may call what: one line for each operation of the API, written from docs/rules.md "Access" and docs/api.md, and from no
// code. To add an operation, write its line; if its path has a parameter that is new, also say in PARAMETERS of `world.ts` what
// stands for it.
//
// A line has a letter for each caller, in the groups of CALLER_GROUPS in `callers.ts`:
//
//   000 rnk pp...n i.. .ff. .. . db 0
//   |   |   |      |   |    |  | |  an observer that has signed the request
//   |   |   |      |   |    |  | the owner while the domain is: disabled, banned (`--` where the path names none)
//   |   |   |      |   |    |  the owner's key as X-Api-Key
//   |   |   |      |   |    session of a global admin: password just now, long ago
//   |   |   |      |   session of the owner by cookie: right, no Origin, Origin of another site, password long ago
//   |   |   |      deactivated account, account that a reseller manages: its key, its session as Bearer
//   |   |   key of: viewer, editor, admin, owner, global admin, stranger
//   |   key of the owner: read-only, for another domain, for some records
//   no credential, an unknown key, an expired key

import type { World } from './world.ts';

/** What a letter says: the status, the `code`, and how `error` begins. */
export const LETTERS: Readonly<
  Record<string, { readonly status: number; readonly code?: string; readonly error?: RegExp }>
> = {
  '.': { status: 200 },
  0: {
    status: 401,
    error: /^(a valid API key is needed|the headers x-vantage-name|the notice is not signed)/,
  },
  f: { status: 403, code: 'foreign_origin' },
  i: { status: 403, code: 'account_suspended', error: /^account is inactive$/ },
  r: { status: 403, error: /^read-only API key$/ },
  m: { status: 403, code: 'managed_by_reseller' },
  s: { status: 403, error: /^this surface is not open to API keys$/ },
  g: { status: 410, error: /^route_removed$/ },
  n: { status: 404 },
  w: { status: 405, error: /^this path does not have the method/ },
  p: { status: 403, error: /^your role lacks / },
  k: { status: 403, error: /^this API key (is narrowed|may write some records only)/ },
  c: { status: 403, code: 'reauthenticate' },
  b: { status: 403, code: 'domain_banned' },
  // Let in, though there is nothing to be done in this state.
  x: { status: 400, code: 'wrong_state' },
  d: { status: 409, code: 'domain_disabled' },
  // Let in, while something else is under way.
  y: { status: 409, code: 'dnssec_busy' },
};

export interface Sent {
  readonly query?: (world: World) => string | Promise<string>;
  readonly body?: (world: World) => unknown;
  readonly dnsMode?: 'external';
  /** What the domain is, whoever calls. */
  readonly status?: 'disabled' | 'banned';
  /** Whatever else has to be so; before the status is set. */
  readonly prepare?: (world: World) => Promise<unknown>;
}

export type Row = readonly [letters: string, sent?: Sent];

const TO_BE_SIGNED: Sent = { prepare: (w) => w.haveSigned() };
const HAS_CHECK: Sent = { prepare: (w) => w.checkId() };
const LOOK_IS_FREE: Sent = { prepare: (w) => w.haveLooked() };
const ofItsDomain: Sent = { query: async (w) => `domain=${await w.parameter('', 'domain')}` };
const rankedBy: Sent = { query: async (w) => `${await ofItsDomain.query?.(w)}&metric=uris` };
const ofFreeTerm: Sent = { body: async (w) => ({ plan_term_id: await w.freeTermId() }) };
const aRecord = { name: 'www', type: 'A', destination: '192.0.2.9' };
const NEW_PASSWORD = 'another horse battery';

/** Every operation of the API. */
export const WALK: Readonly<Record<string, Row>> = {
  // The account.
  'GET /whoami': ['000 ... ...... i.. .... .. . -- 0'],
  'GET /changes': ['000 ... ...... i.. .... .. . -- 0'],
  'GET /domains/': ['000 ... ...... i.. .... .. . -- 0'],
  'GET /domains/ns-sets': ['000 ... ...... i.. .... .. . -- 0'],
  'POST /domains/': ['000 rkk ...... imm .ff. .. . -- 0', { body: (w) => ({ name: w.domainName }) }],

  // A domain.
  'GET /domains/{domain}': ['000 .n. .....n i.. .... .. . .. 0'],
  'PUT /domains/{domain}': ['000 rnk pp...n i.. .ff. .. . db 0', { body: () => ({ outage_alerts: true }) }],
  'DELETE /domains/{domain}': ['000 rnk ppp..n i.. .ff. .. . .b 0'],
  'POST /domains/{domain}/enable': ['000 rnk pp...n i.. .ff. .. . .b 0', { status: 'disabled' }],
  'POST /domains/{domain}/verify': ['000 rnk pp...n i.. .ff. .. . db 0', { dnsMode: 'external' }],
  'POST /domains/{domain}/ns-check': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'GET /domains/{domain}/dnssec': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/dnssec/enable': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'POST /domains/{domain}/dnssec/disable': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'POST /domains/{domain}/dnssec/rollover': ['000 rnk ppyyyn iyy yffy yy y db 0', TO_BE_SIGNED],
  'PUT /domains/{domain}/dnssec': [
    '000 rnk pp...n i.. .ff. .. . db 0',
    { ...TO_BE_SIGNED, body: () => ({ denial: 'nsec3' }) },
  ],
  'POST /domains/{domain}/dnssec/abort': ['000 rnk pp...n i.. .ff. .. . db 0', TO_BE_SIGNED],
  'POST /domains/{domain}/dnssec/check': ['000 rnk pp...n i.. .ff. .. . db 0', LOOK_IS_FREE],
  'PUT /domains/{domain}/dnssec/foreign-keys': [
    '000 rnk pp...n i.. .ff. .. . db 0',
    { ...TO_BE_SIGNED, body: () => ({ keys: [] }) },
  ],
  'POST /domains/{domain}/dnssec/import-keys': ['000 rnk pp...n i.. .ff. .. . db 0', TO_BE_SIGNED],
  'GET /domains/{domain}/verifications': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/checks': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/checks/latest': ['000 .n. .....n i.. .... .. . .. 0', HAS_CHECK],
  'GET /domains/{domain}/checks/{id}': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/changes': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/changes/{id}': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/changes/{id}/revert': ['000 rn. p....n i.. .ff. .. . db 0'],
  'GET /domains/{domain}/events': ['000 .n. .....n i.. .... .. . .. 0', { query: () => 'once=true' }],
  'GET /domains/{domain}/features': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/ssl': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/ssl/issue': ['000 rnk ppxxxn ixx xffx xx x db 0'],
  'POST /domains/{domain}/ssl': ['000 rnk pp...n i.. .ff. .. . db 0', { body: (w) => w.certificate() }],
  'DELETE /domains/{domain}/ssl': [
    '000 rnk pp...n i.. .ff. .. . db 0',
    { prepare: (w) => w.haveCertificate() },
  ],
  'DELETE /domains/{domain}/cache/': ['000 rnk p....n i.. .ff. .. . db 0'],
  'POST /domains/{domain}/cache/refresh': [
    '000 rnk p....n i.. .ff. .. . db 0',
    { body: (w) => ({ url: `https://${w.domainName}/` }) },
  ],
  'GET /domains/{domain}/cache/purges/{id}': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/cache/keys': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /analytics/dns': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /domains/{domain}/recommendations': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/recommendations/{code}/dismiss': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'GET /domains/{domain}/uptime': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/webhooks': ['000 .nk pp...n i.. .... .. . .. 0'],
  'POST /domains/{domain}/webhooks': [
    '000 rnk pp...n i.. .ff. .. . db 0',
    { body: () => ({ url: 'https://hooks.walk.test/' }) },
  ],
  'DELETE /domains/{domain}/webhooks/{id}': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'POST /domains/{domain}/webhooks/{id}/test': ['000 rnk pp...n i.. .ff. .. . db 0'],
  'GET /domains/{domain}/webhooks/{id}/deliveries': ['000 .nk pp...n i.. .... .. . .. 0'],
  // What edges counted; the query names the domain.
  'GET /analytics/summary': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/visitors': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/top-uris': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/unreachable-reasons': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/requests-compare': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/logs': ['000 .n. .....n i.. .... .. . .. 0', ofItsDomain],
  'GET /analytics/top-requests': ['000 .n. .....n i.. .... .. . .. 0', rankedBy],

  'GET /domains/{domain}/traffic-usage': ['000 .n. .....n i.. .... .. . .. 0'],
  'GET /domains/{domain}/subscriptions': ['000 .n. ppp..n i.. .... .. . .. 0'],
  'GET /domains/{domain}/subscriptions/{id}': ['000 .n. ppp..n i.. .... .. . .. 0'],
  'POST /domains/{domain}/subscriptions/purchase': ['000 rss ssssss imm .ff. .. s ss 0', ofFreeTerm],
  // Nothing is paid, so there is nothing to switch from.
  'POST /domains/{domain}/subscriptions/switch': ['000 rss ssssss imm xffx xx s ss 0', ofFreeTerm],
  'POST /domains/{domain}/subscriptions/auto-renew': [
    '000 rss ssssss imm .ff. .. s ss 0',
    { body: () => ({ auto_renew: false }) },
  ],

  // Its records. A parse writes nothing, so a disabled domain takes it; a scan is work for the whole domain.
  'GET /domains/{domain}/records/': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/records/': ['000 rn. p....n i.. .ff. .. . db 0', { body: () => aRecord }],
  'GET /domains/{domain}/records/{id}': ['000 .n. .....n i.. .... .. . .. 0'],
  'PUT /domains/{domain}/records/{id}': ['000 rn. p....n i.. .ff. .. . db 0', { body: () => ({ ttl: 600 }) }],
  'DELETE /domains/{domain}/records/{id}': ['000 rn. p....n i.. .ff. .. . db 0'],
  'PUT /domains/{domain}/records/batch': [
    '000 rn. p....n i.. .ff. .. . db 0',
    { body: () => ({ create: [aRecord] }) },
  ],
  'DELETE /domains/{domain}/records/batch': [
    '000 rn. p....n i.. .ff. .. . db 0',
    { query: async (w) => `ids=${(await w.record()).id}` },
  ],
  'POST /domains/{domain}/records/import': [
    '000 rn. p....n i.. .ff. .. . db 0',
    { body: () => ({ records: [aRecord] }) },
  ],
  'POST /domains/{domain}/records/import/parse': [
    '000 rn. p....n i.. .ff. .. . .b 0',
    { body: () => ({ zone_file: 'www A 192.0.2.9' }) },
  ],
  'GET /domains/{domain}/records/export': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/records/scan-import': ['000 rnk p....n i.. .ff. .. . db 0'],
  'GET /domains/{domain}/records/scan': ['000 .nk p....n i.. .... .. . db 0'],

  // Its rules for the edge: for the whole domain, so a key for some records writes none.
  'GET /domains/{domain}/rules/{type}/': ['000 .n. .....n i.. .... .. . .. 0'],
  'POST /domains/{domain}/rules/{type}/': ['000 rnk p....n i.. .ff. .. . db 0', { body: () => ({}) }],
  'PATCH /domains/{domain}/rules/{type}/reorder': [
    '000 rnk p....n i.. .ff. .. . db 0',
    { body: async (w) => [{ id: await w.ruleId(), priority: 3 }] },
  ],
  'GET /domains/{domain}/rules/{type}/{id}': ['000 .n. .....n i.. .... .. . .. 0'],
  'PUT /domains/{domain}/rules/{type}/{id}': [
    '000 rnk p....n i.. .ff. .. . db 0',
    { body: () => ({ threshold: 7 }) },
  ],
  'DELETE /domains/{domain}/rules/{type}/{id}': ['000 rnk p....n i.. .ff. .. . db 0'],
  'PATCH /domains/{domain}/rules/{type}/{id}/toggle': ['000 rnk p....n i.. .ff. .. . db 0'],

  // Who shares it. A member may take itself out; a disabled domain takes all of this. The reseller does it for its clients.
  'GET /domains/{domain}/members': ['000 .nk .....n i.. .... .. . .. 0'],
  'PATCH /domains/{domain}/members/{userId}': [
    '000 rnk pp...n imm .ff. .. . .b 0',
    { body: () => ({ role: 'editor' }) },
  ],
  'DELETE /domains/{domain}/members/{userId}': ['000 rnk pp...n imm .ff. .. . .b 0'],
  'GET /domains/{domain}/invites': ['000 .nk pp...n imm .... .. . .. 0'],
  'POST /domains/{domain}/invites': [
    '000 rnk pp...n imm .ff. .. . .b 0',
    { body: (w) => ({ email: `invited-${w.email}`, role: 'viewer' }) },
  ],
  'POST /domains/{domain}/invites/{id}/resend': ['000 rnk pp...n imm .ff. .. . .b 0'],
  'DELETE /domains/{domain}/invites/{id}': ['000 rnk pp...n imm .ff. .. . .b 0'],
  // An invite is for whoever has its link and its email.
  'GET /invites/{token}': ['000 ... ...... imm .... .. . -- 0'],
  'POST /invites/{token}/accept': ['000 rkk ...... imm .ff. .. . -- 0'],

  // People: sessions only. Nobody needs a credential to sign in; an Origin may be missing there, not be foreign.
  'GET /billing/plans': ['000 sss ssssss is. .... .. s -- 0'],
  'POST /auth/login': [
    '.00 rss ssssss is. ..f. .. s -- .',
    { body: async (w) => ({ email: (await w.personId()) && w.email, password: 'correct horse battery' }) },
  ],
  'POST /auth/register': [
    '.00 rss ssssss is. ..f. .. s -- .',
    { body: (w) => ({ email: `registers-${w.email}` }) },
  ],
  'POST /auth/password/forgot': ['.00 rss ssssss is. ..f. .. s -- .', { body: (w) => ({ email: w.email }) }],
  'POST /auth/password/reset': [
    '.00 rss ssssss is. ..f. .. s -- .',
    { body: async (w) => ({ token: await w.link('reset'), password: NEW_PASSWORD }) },
  ],
  'POST /auth/logout': ['000 rss ssssss is. .ff. .. s -- 0'],
  'POST /auth/confirm': [
    '000 rss ssssss is. .ff. .. s -- 0',
    { body: () => ({ password: 'correct horse battery' }) },
  ],
  'POST /auth/otp/enable': ['000 rss ssssss is. .ffc .c s -- 0'],
  'POST /auth/otp/confirm': [
    '000 rss ssssss is. .ffc .c s -- 0',
    { body: async (w) => ({ otp: await w.otp(false) }) },
  ],
  'POST /auth/otp/disable': [
    '000 rss ssssss is. .ffc .c s -- 0',
    { body: async (w) => ({ otp: await w.otp(true) }) },
  ],
  'GET /users/me': ['000 sss ssssss is. .... .. s -- 0'],
  'PUT /users/me': ['000 rss ssssss is. .ff. .. s -- 0', { body: () => ({ name: 'Walter' }) }],
  'PUT /users/me/email': [
    '000 rss ssssss is. .ffc .c s -- 0',
    { body: (w) => ({ email: `new-${w.email}` }) },
  ],
  'POST /users/me/email/confirm': [
    '000 rss ssssss is. .ff. .. s -- 0',
    { body: async (w) => ({ token: await w.link('email') }) },
  ],
  'PUT /users/me/password': [
    '000 rss ssssss is. .ffc .c s -- 0',
    { body: () => ({ password: NEW_PASSWORD }) },
  ],
  'GET /users/me/sessions': ['000 sss ssssss is. .... .. s -- 0'],
  'DELETE /users/me/sessions': ['000 rss ssssss is. .ff. .. s -- 0'],
  'DELETE /users/me/sessions/{id}': ['000 rss ssssss is. .ff. .. s -- 0'],
  'GET /users/me/keys': ['000 sss ssssss is. .... .. s -- 0'],
  'POST /users/me/keys': ['000 rss ssssss is. .ffc .c s -- 0', { body: () => ({ name: 'walk' }) }],
  'DELETE /users/me/keys/{id}': ['000 rss ssssss is. .ffc .c s -- 0'],

  // What was done. A domain's is for those who manage its members.
  'GET /domains/{domain}/audit': ['000 .nk pp...n i.. .... .. . .. 0'],
  'GET /users/me/audit': ['000 sss ssssss is. .... .. s -- 0'],

  // Global admins: for any other session there is no such path. Every write wants the password.
  'GET /admin/accounts': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/accounts': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: (w) => ({ email: `made-${w.email}` }) },
  ],
  'GET /admin/accounts/{id}': ['000 sss ssssss isn nnnn .. s -- 0'],
  'PATCH /admin/accounts/{id}': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ name: 'Another name' }) },
  ],
  'POST /admin/accounts/{id}/links': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ kind: 'reset' }) },
  ],
  'GET /admin/accounts/{id}/keys': ['000 sss ssssss isn nnnn .. s -- 0'],
  'DELETE /admin/accounts/{id}/keys/{key}': ['000 rss ssssss isn nffn .c s -- 0'],
  'GET /admin/domains': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/domains/{id}': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/domains/{id}/ban': ['000 rss ssssss isn nffn .c s -- 0'],
  'POST /admin/domains/{id}/unban': ['000 rss ssssss isn nffn .c s -- 0', { status: 'banned' }],
  'POST /admin/domains/{id}/disable': ['000 rss ssssss isn nffn .c s -- 0'],
  'POST /admin/domains/{id}/enable': ['000 rss ssssss isn nffn .c s -- 0', { status: 'disabled' }],
  'POST /admin/domains/{id}/suspend': ['000 rss ssssss isn nffn .c s -- 0'],
  'POST /admin/domains/{id}/resume': ['000 rss ssssss isn nffn .c s -- 0'],
  'POST /admin/domains/{id}/approve': ['000 rss ssssss isn nffn .c s -- 0'],
  'POST /admin/domains/{id}/restore': [
    '000 rss ssssss isn nffn .c s -- 0',
    { prepare: (w) => w.deleteDomain() },
  ],
  'POST /admin/domains/{id}/check': ['000 rss ssssss isn nffn .c s -- 0'],
  'PUT /admin/domains/{id}/subscription': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ plan: 'free' }) },
  ],
  'DELETE /admin/domains/{id}/subscription': ['000 rss ssssss isn nffn xc s -- 0'],
  'GET /admin/plans': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/plans': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: (w) => ({ slug: `made-${w.unique}`, name: 'Made' }) },
  ],
  'PATCH /admin/plans/{slug}': ['000 rss ssssss isn nffn .c s -- 0', { body: () => ({ name: 'Other' }) }],
  'POST /admin/plans/{slug}/terms': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ billing_duration_days: 7, price_rials: 0 }) },
  ],
  'DELETE /admin/plans/{slug}/terms/{id}': ['000 rss ssssss isn nffn .c s -- 0'],
  'GET /admin/nodes': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/nodes/{name}/confirm': ['000 rss ssssss isn nffn .c s -- 0'],
  'GET /admin/vantages': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/queues': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/registries': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/slow-calls': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/breaker': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/breaker/release': ['000 rss ssssss isn nffn xc s -- 0'],
  'POST /admin/breaker/freeze': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ reason: 'a registry is down' }) },
  ],
  'GET /admin/audit': ['000 sss ssssss isn nnnn .. s -- 0'],

  // Observers: by signature, and by nothing else.
  'POST /vantage/v1/jobs': [
    '000 000 000000 000 0000 00 0 -- .',
    { body: () => ({ max: 1, waitSeconds: 0 }) },
  ],
  'POST /vantage/v1/answers': ['000 000 000000 000 0000 00 0 -- .', { body: (w) => w.vantageAnswer }],

  // Money. A key that is narrowed reads nothing of it.
  'GET /wallet': ['000 .kk ...... imm .... .. . -- 0'],
  'GET /wallet/transactions': ['000 .kk ...... imm .... .. . -- 0'],
  'POST /wallet/topup': ['000 rss ssssss imm .ff. .. s -- 0', { body: () => ({ amount_rials: 50_000 }) }],
  'GET /wallet/topups': ['000 .kk ...... imm .... .. . -- 0'],
  'DELETE /wallet/topups/{id}': ['000 rss ssssss imm .ff. nn s -- 0', { prepare: (w) => w.reopenTopup() }],
  'GET /wallet/topups/{reference}/page': ['000 sss ssssss imm .... nn s -- 0'],
  'GET /invoices': ['000 .kk ...... imm .... .. . -- 0'],
  'GET /invoices/{id}': ['000 .kk nnn.nn imm .... nn . -- 0'],
  'GET /invoices/{id}/print': ['000 .kk nnn.nn imm .... nn . -- 0'],
  'GET /domains/{domain}/invoices': ['000 .nk ppp..n imm .... .. . .. 0'],
  'GET /admin/payments': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/payments/{id}/confirm': ['000 rss ssssss isn nffn .c s -- 0'],
  // Tickets.
  'GET /tickets': ['000 .kk ...... imm .... .. . -- 0'],
  'POST /tickets': [
    '000 rkk ...... imm .ff. .. . -- 0',
    { body: () => ({ subject: 'Hello', message: 'Is anybody there?' }), prepare: (w) => w.closeTickets() },
  ],
  'GET /tickets/{id}': ['000 .kk nnn.nn imm .... nn . -- 0'],
  'GET /tickets/{id}/messages': ['000 .kk nnn.nn imm .... nn . -- 0'],
  'POST /tickets/{id}/messages': [
    '000 rkk nnn.nn imm .ff. nn . -- 0',
    { body: () => ({ message: 'Thanks.' }) },
  ],
  'PATCH /tickets/{id}': ['000 rkk nnn.nn imm .ff. nn . -- 0', { body: () => ({ status: 'closed' }) }],
  'GET /admin/tickets': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/tickets/{id}': ['000 sss ssssss isn nnnn .. s -- 0'],
  'GET /admin/tickets/{id}/messages': ['000 sss ssssss isn nnnn .. s -- 0'],
  'POST /admin/tickets/{id}/messages': [
    '000 rss ssssss isn nffn .c s -- 0',
    { body: () => ({ message: 'Yes.' }) },
  ],
  'PATCH /admin/tickets/{id}': ['000 rss ssssss isn nffn .c s -- 0', { body: () => ({ status: 'closed' }) }],
  // Gateways: by signature, and by nothing else.
  'POST /payments/{gateway}': [
    '000 000 000000 000 0000 00 0 -- 0',
    { body: () => ({ reference: 'NOBODY', amount_rials: 1 }) },
  ],

  // The delegation of any name: for everybody. A cookie counts for nothing; a header that is shown is judged as everywhere.
  'GET /public/checks': ['.00 ... ...... i.. .... .. . -- .', { query: () => 'name=a.example' }],
  'POST /public/checks': ['.00 rkk ...... i.. ..f. .. . -- .', { body: () => ({ name: 'a.example' }) }],

  // Removed, and closed to keys.
  'GET /subscriptions/current': ['000 ggg gggggg igg gggg gg g -- 0'],
  'POST /subscriptions/purchase': ['000 rss ssssss isg gffg gg s -- 0'],
  'POST /subscriptions/switch': ['000 rss ssssss isg gffg gg s -- 0'],
  'POST /subscriptions/auto-renew': ['000 rss ssssss isg gffg gg s -- 0'],
};

/**
 * What no operation is: paths that nothing has, and methods that a path does not have. Without a credential they are 401
 * wherever one is needed for anything, also on paths that one other method answers without: only health and the description
 * answer everybody.
 */
export const NO_OPERATION: Readonly<Record<string, Row>> = {
  'GET /nowhere': ['000 nnn nnnnnn inn nnnn nn n -- 0'],
  'PATCH /nowhere': ['000 rnn nnnnnn inn nffn nn n -- 0'],
  'GET /domains': ['000 nnn nnnnnn inn nnnn nn n -- 0'],
  'GET /users/me/nothing': ['000 sss ssssss isn nnnn nn s -- 0'],
  'GET /admin/nothing': ['000 sss ssssss isn nnnn nn s -- 0'],
  'GET /billing/nothing': ['000 sss ssssss isn nnnn nn s -- 0'],
  'GET /wallet/nothing': ['000 nnn nnnnnn imm nnnn nn n -- 0'],
  'GET /tickets/7/nothing': ['000 nnn nnnnnn imm nnnn nn n -- 0'],
  'GET /invoices/7/nothing': ['000 nnn nnnnnn imm nnnn nn n -- 0'],
  'GET /domains/{domain}/invoices/7': ['000 nnn nnnnnn imm nnnn nn n nn 0'],
  'PATCH /domains/{domain}': ['000 rww wwwwww iww wffw ww w ww 0'],
  'PUT /domains/': ['000 rww wwwwww iww wffw ww w -- 0'],
  'GET /auth/login': ['000 sss ssssss isw wwww ww s -- 0'],
  'DELETE /auth/login': ['000 rss ssssss isw wffw ww s -- 0'],
  'GET /auth/login/': ['000 sss ssssss isn nnnn nn s -- 0'],
  'GET /auth/password/reset': ['000 sss ssssss isw wwww ww s -- 0'],
  'PUT /auth/register': ['000 rss ssssss isw wffw ww s -- 0'],
  'GET /vantage/v1/jobs': ['000 www wwwwww iww wwww ww w -- 0'],
  'POST /healthz': ['www www wwwwww www wwww ww w -- w'],
  'DELETE /openapi.yaml': ['www www wwwwww www wwww ww w -- w'],
};

/** OPTIONS tells the methods of a path, to whom a read of it would tell something. */
export const OPTIONS: Readonly<Record<string, Row>> = {
  'OPTIONS /domains/': ['000 ... ...... i.. .... .. . -- 0'],
  'OPTIONS /domains/{domain}': ['000 .n. .....n i.. .... .. . .. 0'],
  'OPTIONS /domains/{domain}/records/': ['000 .n. .....n i.. .... .. . .. 0'],
  'OPTIONS /domains/{domain}/verify': ['000 .n. .....n i.. .... .. . .. 0'],
  'OPTIONS /auth/login': ['.00 sss ssssss is. .... .. s -- .'],
  'OPTIONS /users/me/keys': ['000 sss ssssss is. .... .. s -- 0'],
  'OPTIONS /healthz': ['... ... ...... ... .... .. . -- .'],
};

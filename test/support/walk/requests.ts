// The requests of the walk: the body, query and state that each operation needs besides its path. An operation that
// is not listed needs none.

import { printPrivateKey } from '../../../src/zone/signing/private-key.ts';
import { KEY_FLAGS, makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import type { World } from './world.ts';

export interface Sent {
  readonly query?: (world: World) => string | Promise<string>;
  readonly body?: (world: World) => unknown;
  readonly dnsMode?: 'external';
  readonly status?: 'disabled' | 'banned';
  /** Prepares anything else, before the status is set. */
  readonly prepare?: (world: World) => Promise<unknown>;
}

const TO_BE_SIGNED: Sent = { prepare: (w) => w.signDomain() };
const COPIED: Sent = { prepare: (w) => w.copyDomain() };
const HAS_CHECK: Sent = { prepare: (w) => w.parameter('/checks/{id}', 'id') };
const CHECK_IS_ALLOWED: Sent = { prepare: (w) => w.allowDnssecCheck() };
const ofItsDomain: Sent = { query: async (w) => `domain=${await w.parameter('', 'domain')}` };
const rankedBy: Sent = { query: async (w) => `${await ofItsDomain.query?.(w)}&metric=uris` };
const ofFreeTerm: Sent = { body: async (w) => ({ plan_term_id: await w.freeTermId() }) };
const aRecord = { name: 'www', type: 'A', destination: '192.0.2.9' };
const FROM_PROVIDER: Sent = { body: () => ({ code: 'a code', state: 'a state' }) };
const NEW_PASSWORD = 'another horse battery';

const FUNDED: Sent = { body: () => ({ amount_rials: 1 }), prepare: (w) => w.fund() };

export const REQUESTS: Readonly<Record<string, Sent>> = {
  'POST /domains/': { body: (w) => ({ name: w.domainName }) },
  'PUT /domains/{domain}': { body: () => ({ outage_alerts: true }) },
  'POST /domains/{domain}/enable': { status: 'disabled' },
  'POST /domains/{domain}/verify': { dnsMode: 'external' },
  'POST /domains/{domain}/dnssec/rollover': TO_BE_SIGNED,
  'PUT /domains/{domain}/dnssec': { ...TO_BE_SIGNED, body: () => ({ denial: 'nsec3' }) },
  'POST /domains/{domain}/dnssec/abort': TO_BE_SIGNED,
  'POST /domains/{domain}/dnssec/check': CHECK_IS_ALLOWED,
  'PUT /domains/{domain}/dnssec/foreign-keys': { ...TO_BE_SIGNED, body: () => ({ keys: [] }) },
  'POST /domains/{domain}/dnssec/import-keys': TO_BE_SIGNED,
  'POST /domains/{domain}/dnssec/import-private-keys': {
    body: () => {
      const { dnskey, secret } = makeKey(SIGNING_ALGORITHM.ED25519, KEY_FLAGS.ENTRY);
      return { keys: [{ flags: 257, private_key: printPrivateKey(dnskey, secret, 'bind') }] };
    },
  },
  'POST /domains/{domain}/dnssec/export-private-keys': TO_BE_SIGNED,
  'GET /domains/{domain}/checks/latest': HAS_CHECK,
  'GET /domains/{domain}/events': { query: () => 'once=true' },
  'POST /domains/{domain}/ssl': { body: (w) => w.certificate() },
  'DELETE /domains/{domain}/ssl': { prepare: (w) => w.installCertificate() },
  'POST /domains/{domain}/cache/refresh': { body: (w) => ({ url: `https://${w.domainName}/` }) },
  'GET /analytics/dns': ofItsDomain,
  'POST /domains/{domain}/webhooks': { body: () => ({ url: 'https://hooks.walk.test/' }) },
  'PUT /domains/{domain}/secondaries': {
    body: () => ({ secondaries: [{ addresses: ['9.9.9.9'], networks: ['9.9.9.9'] }] }),
  },
  'PUT /domains/{domain}/update-grants': { body: () => ({ grants: [] }) },
  'PUT /domains/{domain}/primaries': { body: () => ({ primaries: [{ address: '9.9.9.9' }] }) },
  'DELETE /domains/{domain}/primaries': COPIED,
  'POST /domains/{domain}/retransfer': COPIED,
  'POST /tsig-keys/': { body: () => ({ label: 'walk' }) },
  'GET /analytics/summary': ofItsDomain,
  'GET /analytics/visitors': ofItsDomain,
  'GET /analytics/top-uris': ofItsDomain,
  'GET /analytics/unreachable-reasons': ofItsDomain,
  'GET /analytics/requests-compare': ofItsDomain,
  'GET /analytics/logs': ofItsDomain,
  'GET /analytics/top-requests': rankedBy,
  'POST /domains/{domain}/subscriptions/purchase': ofFreeTerm,
  'POST /domains/{domain}/subscriptions/switch': ofFreeTerm,
  'POST /domains/{domain}/subscriptions/auto-renew': { body: () => ({ auto_renew: false }) },
  'POST /domains/{domain}/records/': { body: () => aRecord },
  'PUT /domains/{domain}/records/{id}': { body: () => ({ ttl: 600 }) },
  'PUT /domains/{domain}/records/batch': { body: () => ({ create: [aRecord] }) },
  'DELETE /domains/{domain}/records/batch': { query: async (w) => `ids=${(await w.record()).id}` },
  'POST /domains/{domain}/records/import': { body: () => ({ records: [aRecord] }) },
  'POST /domains/{domain}/records/import/parse': { body: () => ({ zone_file: 'www A 192.0.2.9' }) },
  'POST /domains/{domain}/rules/{type}/': { body: () => ({}) },
  'PATCH /domains/{domain}/rules/{type}/reorder': {
    body: async (w) => [{ id: await w.parameter('/rules/{type}/{id}', 'id'), priority: 3 }],
  },
  'PUT /domains/{domain}/rules/{type}/{id}': { body: () => ({ threshold: 7 }) },
  'PATCH /domains/{domain}/members/{userId}': { body: () => ({ role: 'editor' }) },
  'POST /domains/{domain}/invites': { body: (w) => ({ email: `invited-${w.email}`, role: 'viewer' }) },
  'POST /auth/login': {
    body: async (w) => ({ email: (await w.personId()) && w.email, password: 'correct horse battery' }),
  },
  'POST /auth/register': { body: (w) => ({ email: `registers-${w.email}` }) },
  'POST /auth/password/forgot': { body: (w) => ({ email: w.email }) },
  'POST /auth/password/reset': {
    body: async (w) => ({ token: await w.link('reset'), password: NEW_PASSWORD }),
  },
  'POST /auth/oidc/begin': { body: () => ({}) },
  'POST /auth/oidc/finish': FROM_PROVIDER,
  'POST /auth/oidc/confirm': FROM_PROVIDER,
  'POST /users/me/identities': FROM_PROVIDER,
  'POST /auth/confirm': { body: () => ({ password: 'correct horse battery' }) },
  'POST /auth/otp/confirm': { body: async (w) => ({ otp: await w.otp(false) }) },
  'POST /auth/otp/disable': { body: async (w) => ({ otp: await w.otp(true) }) },
  'PUT /users/me': { body: () => ({ name: 'Walter' }) },
  'PUT /users/me/email': { body: (w) => ({ email: `new-${w.email}` }) },
  'POST /users/me/email/confirm': { body: async (w) => ({ token: await w.link('email') }) },
  'PUT /users/me/password': { body: () => ({ password: NEW_PASSWORD }) },
  'POST /users/me/keys': { body: () => ({ name: 'walk' }) },
  'POST /admin/accounts': { body: (w) => ({ email: `made-${w.email}` }) },
  'PATCH /admin/accounts/{id}': { body: () => ({ name: 'Another name' }) },
  'POST /admin/accounts/{id}/links': { body: () => ({ kind: 'reset' }) },
  'POST /domains/batch': { body: (w) => ({ domains: [{ name: `own-${w.unique}.com` }] }) },
  'POST /admin/domains/batch': {
    body: (w) => ({ domains: [{ name: `batch-${w.unique}.com`, user_email: 'nobody@zonefleet.test' }] }),
  },
  'POST /admin/domains/{id}/unban': { status: 'banned' },
  'POST /admin/domains/{id}/enable': { status: 'disabled' },
  'POST /admin/domains/{id}/restore': { prepare: (w) => w.deleteDomain() },
  'PUT /admin/domains/{id}/subscription': { body: () => ({ plan: 'free' }) },
  'POST /admin/plans': { body: (w) => ({ slug: `made-${w.unique}`, name: 'Made' }) },
  'PATCH /admin/plans/{slug}': { body: () => ({ name: 'Other' }) },
  'POST /admin/plans/{slug}/terms': { body: () => ({ billing_duration_days: 7, price_rials: 0 }) },
  'POST /admin/breaker/release': { prepare: (w) => w.freezeBreaker() },
  'POST /admin/breaker/freeze': { body: () => ({ reason: 'a registry is down' }) },
  'POST /vantage/v1/jobs': { body: () => ({ max: 1, waitSeconds: 0 }) },
  'POST /vantage/v1/answers': { body: (w) => w.vantageAnswer },
  'POST /wallet/topup': { body: () => ({ amount_rials: 50_000 }) },
  'DELETE /wallet/topups/{id}': { prepare: (w) => w.reopenTopup() },
  'POST /tickets': {
    body: () => ({ subject: 'Hello', message: 'Is anybody there?' }),
    prepare: (w) => w.closeTickets(),
  },
  'POST /tickets/{id}/messages': { body: () => ({ message: 'Thanks.' }) },
  'PATCH /tickets/{id}': { body: () => ({ status: 'closed' }) },
  'POST /admin/tickets/{id}/messages': { body: () => ({ message: 'Yes.' }) },
  'PATCH /admin/tickets/{id}': { body: () => ({ status: 'closed' }) },
  'POST /payments/{gateway}': { body: () => ({ reference: 'NOBODY', amount_rials: 1 }) },
  'GET /public/checks': { query: () => 'name=a.example' },
  'POST /public/checks': { body: () => ({ name: 'a.example' }) },

  // The reseller API.
  'POST /reseller/v1/tokens': { body: () => ({ name: 'walk' }) },
  'POST /reseller/v1/clients': { body: (w) => ({ email: `made-${w.email}` }) },
  'PATCH /reseller/v1/clients/{clientId}': { body: () => ({ name: 'Another' }) },
  'POST /reseller/v1/clients/{clientId}/credit': FUNDED,
  'POST /reseller/v1/clients/{clientId}/debit': FUNDED,
  'GET /reseller/v1/analytics/dns': { query: async (w) => `domain=${await w.parameter('', 'domain')}` },
  'POST /reseller/v1/services': {
    body: async (w) => ({
      client_id: w.clientId,
      domain: `service-${w.unique}.test`,
      plan_term_id: await w.freeTermId(),
    }),
  },
  'POST /reseller/v1/services/{serviceId}/change-plan': ofFreeTerm,
  'DELETE /reseller/v1/services/{serviceId}': { prepare: (w) => w.assignPlan() },
};

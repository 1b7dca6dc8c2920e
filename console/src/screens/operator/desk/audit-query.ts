// Converts the filters of the audit log to the API's query.

import type { components } from '../../../api/admin-schema.d.ts';

type Action = components['schemas']['AuditEntry']['action'];

/** Groups of actions that are filtered together. */
export const AUDIT_GROUPS = {
  session: ['session.begin', 'session.fail', 'session.confirm', 'session.end'],
  account: [
    'account.register',
    'account.create',
    'account.update',
    'account.email',
    'account.ask_email',
    'account.password',
    'account.reset_password',
    'account.begin_otp',
    'account.enable_otp',
    'account.disable_otp',
    'account.link',
    'identity.link',
    'identity.unlink',
    'key.create',
    'key.revoke',
    'token.create',
    'token.revoke',
  ],
  domain: [
    'domain.create',
    'domain.status',
    'domain.nameservers',
    'domain.delete',
    'domain.restore',
    'domain.update',
    'domain.suspend',
    'domain.approve',
    'domain.plan',
    'domain.move',
    'domain.dnssec',
    'domain.export_keys',
  ],
  content: [
    'records.edit',
    'rules.edit',
    'ssl.issue',
    'ssl.upload',
    'ssl.delete',
    'cache.purge',
    'cache.refresh',
    'webhook.create',
    'webhook.delete',
    'webhook.test',
    'secondaries.edit',
    'primaries.edit',
    'update_grants.edit',
    'primaries.retransfer',
    'recommendation.dismiss',
  ],
  sharing: [
    'member.update',
    'member.remove',
    'invite.create',
    'invite.resend',
    'invite.revoke',
    'invite.accept',
  ],
  money: [
    'plan.create',
    'plan.update',
    'plan.add_term',
    'plan.retire_term',
    'wallet.topup',
    'wallet.cancel',
    'wallet.credit',
    'wallet.refuse',
    'wallet.adjust',
    'client.credit',
    'client.debit',
  ],
  ticket: ['ticket.open', 'ticket.write', 'ticket.answer', 'ticket.status'],
  fleet: [
    'node.confirm',
    'node.forget',
    'breaker.release',
    'breaker.freeze',
    'vantage.add',
    'vantage.remove',
    'zone.load',
    'zone.unload',
    'zone.dnssec',
    'zone.export_keys',
    'zone.raise',
    'zone.policy',
    'zone.notify',
    'tsig.create',
    'tsig.import',
    'tsig.revoke',
    'update.allow',
    'update.revoke',
    'peer.add',
    'peer.set',
    'peer.remove',
    'policy.set',
    'policy.remove',
    'secondary.add',
    'secondary.remove',
    'zone.retransfer',
    'catalog.create',
    'catalog.set',
    'catalog.member',
    'catalog.remove',
    'catalog.consume',
    'catalog.confirm',
    'edge.create',
    'edge.rotate',
    'edge.drain',
    'edge.read_key',
    'edge.revoke',
    'edge.region',
    'edge.serve',
  ],
} as const satisfies Readonly<Record<string, readonly Action[]>>;

export type AuditGroup = keyof typeof AUDIT_GROUPS;

/** Returns the beginning in UTC of a day such as `2026-11-28`, plus `days`. */
export function dayStart(day: string | undefined, days = 0): string | undefined {
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString();
}

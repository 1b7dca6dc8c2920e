// The actions of the audit log, the kind of their targets, and the only fields that their rows may contain. Other
// fields are never stored, so no password, token, key or hash can be.

import type { ActorKind, DomainOperation } from '../postgres/tables/schema.ts';

export const TARGET_KINDS = [
  'account',
  'breaker',
  'certificate',
  'domain',
  'edge',
  'invite',
  'key',
  'member',
  'node',
  'peer',
  'plan',
  'policy',
  'ticket',
  'token',
  'tsig_key',
  'vantage',
  'zone',
] as const;
type TargetKind = (typeof TARGET_KINDS)[number];

interface ActionRule {
  readonly target: TargetKind;
  readonly fields: readonly string[];
}

const ACCOUNT = ['email', 'name', 'admin', 'reseller', 'provider', 'active', 'plan'] as const;
const KEY = ['name', 'prefix', 'read_only', 'domains', 'names', 'types', 'expires_at'] as const;
const TOKEN = ['name', 'key_id', 'expires_at'] as const;
const IDENTITY = ['issuer', 'subject', 'email'] as const;
const TRANSFER = ['amount_rials'] as const;
const MEMBER = ['email', 'role'] as const;
const INVITE = ['email', 'role'] as const;
const SUBSCRIPTION = [
  'plan',
  'term',
  'status',
  'overrides',
  'auto_renew',
  'expires_at',
  'grace_until',
] as const;
const TSIG_KEY = ['algorithm', 'use'] as const;
const PEER = [
  'addresses',
  'port',
  'networks',
  'tsig_key',
  'tls',
  'tls_port',
  'tls_name',
  'tls_pins',
] as const;
const CATALOG = ['select', 'account_id', 'policy', 'group_by_policy', 'max_members'] as const;
const SETTINGS = [
  'dns_mode',
  'svc_ns',
  'cache_l2_max_gb',
  'cache_l2_ttl_days',
  'cache_cap_mb',
  'developer_mode_until',
  'sec_no_sniff',
  'sec_referrer_policy',
  'sec_strip_headers',
  'markdown_for_agents',
  'outage_alerts',
  'uptime_threshold_pct',
  'uptime_window_min',
  'uptime_min_requests',
  'uptime_min_active_min',
  'uptime_recover_min',
] as const;
const PLAN = [
  'slug',
  'name',
  'max_records',
  'max_domains',
  'max_claims',
  'max_traffic_gb',
  'max_rules_per_set',
  'max_cache_cap_mb',
  'logs_enabled',
  'monitoring_enabled',
  'rules_enabled',
  'cache_purge_enabled',
  'custom_ssl_enabled',
  'ws_enabled',
  'host_header_edit_enabled',
  'dedicated_support_enabled',
  'quota_reset_days',
] as const;

const AUDIT_ACTIONS = {
  // Sign-in. Failures are recorded only for existing accounts.
  'session.begin': { target: 'account', fields: ['by', 'otp', 'bearer'] },
  'session.fail': { target: 'account', fields: ['step'] },
  'session.confirm': { target: 'account', fields: [] },
  'session.end': { target: 'account', fields: ['session', 'ended'] },
  // Accounts.
  'account.register': { target: 'account', fields: ACCOUNT },
  'account.create': { target: 'account', fields: ACCOUNT },
  'account.update': { target: 'account', fields: ACCOUNT },
  'account.email': { target: 'account', fields: ['email'] },
  'account.ask_email': { target: 'account', fields: ['email'] },
  'account.password': { target: 'account', fields: [] },
  'account.reset_password': { target: 'account', fields: [] },
  'account.begin_otp': { target: 'account', fields: [] },
  'account.enable_otp': { target: 'account', fields: [] },
  'account.disable_otp': { target: 'account', fields: [] },
  'account.link': { target: 'account', fields: ['kind'] },
  'identity.link': { target: 'account', fields: IDENTITY },
  'identity.unlink': { target: 'account', fields: IDENTITY },
  'key.create': { target: 'key', fields: KEY },
  'key.revoke': { target: 'key', fields: KEY },
  'token.create': { target: 'token', fields: TOKEN },
  'token.revoke': { target: 'token', fields: TOKEN },
  // Money between a reseller and a client. The client is the target.
  'client.credit': { target: 'account', fields: TRANSFER },
  'client.debit': { target: 'account', fields: TRANSFER },
  // Domains. Actions that change the domain are written together with the change.
  'domain.create': { target: 'domain', fields: ['status'] },
  'domain.status': { target: 'domain', fields: ['status'] },
  'domain.nameservers': { target: 'domain', fields: ['svc_ns'] },
  'domain.delete': { target: 'domain', fields: ['status'] },
  'domain.restore': { target: 'domain', fields: ['status'] },
  'domain.update': { target: 'domain', fields: SETTINGS },
  'domain.suspend': { target: 'domain', fields: ['suspended', 'suspended_by'] },
  'domain.approve': { target: 'domain', fields: ['svc_ns', 'take'] },
  'domain.plan': { target: 'domain', fields: SUBSCRIPTION },
  'domain.move': { target: 'domain', fields: [] },
  'domain.dnssec': { target: 'domain', fields: [] },
  'domain.export_keys': { target: 'domain', fields: ['key_tags', 'format'] },
  'records.edit': { target: 'domain', fields: [] },
  'rules.edit': { target: 'domain', fields: [] },
  'ssl.issue': { target: 'domain', fields: [] },
  'ssl.upload': { target: 'domain', fields: ['names', 'issuer', 'fingerprint', 'not_after'] },
  'cache.purge': { target: 'domain', fields: ['purge', 'host', 'url', 'prefix', 'hostname', 'store_path'] },
  'cache.refresh': { target: 'domain', fields: ['purge', 'url'] },
  'webhook.create': { target: 'domain', fields: ['webhook', 'host'] },
  'webhook.delete': { target: 'domain', fields: ['webhook', 'host'] },
  'webhook.test': { target: 'domain', fields: ['webhook', 'host'] },
  'secondaries.edit': { target: 'domain', fields: ['secondaries'] },
  'update_grants.edit': { target: 'domain', fields: ['grants'] },
  'primaries.edit': { target: 'domain', fields: ['primaries'] },
  'primaries.retransfer': { target: 'domain', fields: [] },
  'recommendation.dismiss': { target: 'domain', fields: ['recommendation'] },
  'ssl.delete': { target: 'domain', fields: ['names', 'fingerprint'] },
  // Sharing of domains.
  'member.update': { target: 'member', fields: MEMBER },
  'member.remove': { target: 'member', fields: MEMBER },
  'invite.create': { target: 'invite', fields: INVITE },
  'invite.resend': { target: 'invite', fields: INVITE },
  'invite.revoke': { target: 'invite', fields: INVITE },
  'invite.accept': { target: 'invite', fields: INVITE },
  // Plans and the fleet.
  'plan.create': { target: 'plan', fields: PLAN },
  'plan.update': { target: 'plan', fields: PLAN },
  'plan.add_term': { target: 'plan', fields: ['billing_duration_days', 'price_rials'] },
  'plan.retire_term': { target: 'plan', fields: ['term'] },
  // Money. Top-ups are identified by payment id.
  'wallet.topup': { target: 'account', fields: ['payment', 'gateway', 'amount_rials'] },
  'wallet.cancel': { target: 'account', fields: ['payment', 'gateway', 'amount_rials'] },
  'wallet.credit': { target: 'account', fields: ['payment', 'gateway', 'amount_rials', 'balance_rials'] },
  'wallet.refuse': { target: 'account', fields: ['payment', 'gateway', 'amount_rials'] },
  'wallet.adjust': { target: 'account', fields: ['amount_rials', 'balance_rials', 'description'] },
  'ticket.open': { target: 'ticket', fields: ['status'] },
  'ticket.write': { target: 'ticket', fields: ['status'] },
  'ticket.answer': { target: 'ticket', fields: ['status'] },
  'ticket.status': { target: 'ticket', fields: ['status'] },
  'node.confirm': { target: 'node', fields: ['zones'] },
  'breaker.release': { target: 'breaker', fields: ['checked', 'turned'] },
  'breaker.freeze': { target: 'breaker', fields: ['reason', 'until'] },
  'vantage.add': { target: 'vantage', fields: ['network', 'address', 'fingerprint'] },
  'vantage.remove': { target: 'vantage', fields: ['network', 'address'] },
  'zone.load': { target: 'zone', fields: ['zones', 'names'] },
  'zone.unload': { target: 'zone', fields: ['zones', 'names'] },
  'zone.raise': { target: 'zone', fields: ['serial'] },
  'zone.policy': { target: 'zone', fields: ['zones', 'names', 'policy'] },
  'zone.notify': { target: 'zone', fields: ['zones', 'names'] },
  'zone.retransfer': { target: 'zone', fields: ['zones', 'names'] },
  'secondary.add': { target: 'zone', fields: ['primaries', 'max_records'] },
  'secondary.remove': { target: 'zone', fields: [] },
  'catalog.create': { target: 'zone', fields: CATALOG },
  'catalog.set': { target: 'zone', fields: CATALOG },
  'catalog.member': { target: 'zone', fields: ['added', 'removed', 'names'] },
  'catalog.remove': { target: 'zone', fields: [] },
  'catalog.consume': { target: 'zone', fields: ['primaries', 'groups', 'max_members'] },
  'catalog.confirm': { target: 'zone', fields: [] },
  'zone.dnssec': { target: 'zone', fields: ['goal', 'denial', 'algorithm', 'split'] },
  'zone.export_keys': { target: 'zone', fields: ['key_tags', 'format'] },
  // Zone transfers. Keys may belong to an account.
  'tsig.create': { target: 'tsig_key', fields: TSIG_KEY },
  'tsig.import': { target: 'tsig_key', fields: TSIG_KEY },
  'tsig.revoke': { target: 'tsig_key', fields: TSIG_KEY },
  'peer.add': { target: 'peer', fields: PEER },
  'peer.set': { target: 'peer', fields: PEER },
  'peer.remove': { target: 'peer', fields: PEER },
  'update.allow': { target: 'zone', fields: ['grants'] },
  'update.revoke': { target: 'zone', fields: ['grants'] },
  'policy.set': { target: 'policy', fields: ['transfer', 'notify'] },
  'policy.remove': { target: 'policy', fields: ['transfer', 'notify'] },
  'node.forget': { target: 'node', fields: [] },
  'edge.create': { target: 'edge', fields: ['region', 'addresses'] },
  'edge.rotate': { target: 'edge', fields: [] },
  'edge.drain': { target: 'edge', fields: ['drained'] },
  'edge.read_key': { target: 'certificate', fields: ['edge'] },
  'edge.revoke': { target: 'edge', fields: [] },
  'edge.region': { target: 'edge', fields: ['region', 'countries'] },
  'edge.serve': { target: 'domain', fields: ['edge_regions'] },
} as const satisfies Readonly<Record<string, ActionRule>>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** In the order of the table above. */
export const ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as [AuditAction, ...AuditAction[]];

export function ruleOf(action: AuditAction): ActionRule {
  return AUDIT_ACTIONS[action];
}

interface ChangeToTell {
  readonly operation: DomainOperation;
  readonly actor: ActorKind;
  /** The domain's status before and after the change. */
  readonly status?: { readonly from: string | null; readonly to: string | null } | undefined;
}

const ACTIONS: Readonly<Record<DomainOperation, AuditAction | undefined>> = {
  create: 'domain.create',
  edit: 'records.edit',
  rules: 'rules.edit',
  status: 'domain.status',
  nameservers: 'domain.nameservers',
  move: 'domain.move',
  delete: 'domain.delete',
  restore: 'domain.restore',
  dnssec: 'domain.dnssec',
  // These changes follow from settings of the service or from other zones, so they have no actor.
  settings: undefined,
  addresses: undefined,
};

/**
 * Returns the audit action for a change of a domain. Returns undefined if the change is not audited: of the system's
 * changes, only edits and changes of status are.
 */
export function actionOfChange({ operation, actor, status }: ChangeToTell): AuditAction | undefined {
  const isMove = status !== undefined && status.from !== status.to;
  if (actor === 'system' && operation !== 'edit' && !isMove) return undefined;
  return ACTIONS[operation];
}

// Domains in responses, in lists and in the bodies that create or change them, and the accepted nameserver sets.

import { z } from 'zod';
import { CACHE_CAPS_MB } from '../../billing/limits-in-use.ts';
import { DNSSEC_STATUSES } from '../../checks/dnssec/told/dnssec-status.ts';
import { DNS_MODES, DOMAIN_STATUSES, SERVED } from '../../zone/domain/domain-status.ts';
import { STATUS_REASONS, type StatusReason } from '../../zone/domain/status-reason.ts';
import { PERMISSIONS, ROLES } from '../callers/caller.ts';
import { Verification } from './checks/verification.ts';
import { EnableDnssec } from './dnssec.ts';
import { boundedArray, Id, Timestamp } from './fields.ts';
import { Subscription } from './plan.ts';
import { SslSummary } from './ssl.ts';

const HostName = z.string().min(1).max(1024);

/** The members that an owner may set with PUT. */
const settings = {
  dns_mode: z
    .enum(DNS_MODES)
    .describe('`managed`: this service publishes the zone. `external`: the owner publishes it elsewhere.'),
  cache_l2_max_gb: z
    .int()
    .min(0)
    .max(1_000_000)
    .describe('Space that the domain may use in the disk cache, in GB.'),
  cache_l2_ttl_days: z.int().min(1).max(7).describe('Lifetime of an entry in the disk cache, in days.'),
  cache_cap_mb: z.literal(CACHE_CAPS_MB).meta({
    type: 'integer',
    description: 'Larger response bodies are not cached. The plan sets the ceiling.',
  }),
  sec_no_sniff: z.boolean().describe('The edge adds X-Content-Type-Options: nosniff.'),
  sec_referrer_policy: z
    .boolean()
    .describe('The edge adds Referrer-Policy: strict-origin-when-cross-origin.'),
  sec_strip_headers: z.boolean().describe('The edge removes headers that reveal the software of the origin.'),
  markdown_for_agents: z
    .boolean()
    .describe('The edge converts HTML to Markdown for clients that request it. Requires an active plan.'),
  outage_alerts: z.boolean().describe('The owner is notified of an origin that stays down.'),
  uptime_threshold_pct: z
    .int()
    .min(50)
    .max(100)
    .describe('Percentage of origin errors from which a minute counts as down.'),
  uptime_window_min: z.int().min(2).max(60).describe('Number of minutes down that open an incident.'),
  uptime_min_requests: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .describe('With fewer requests in the window, no incident is opened.'),
  uptime_min_active_min: z
    .int()
    .min(1)
    .max(60)
    .describe('Number of minutes of the window that must have traffic.'),
  uptime_recover_min: z.int().min(1).max(1440).describe('Number of healthy minutes that close an incident.'),
};

const developerModeUntil = Timestamp.describe(
  'Until then, the edge neither reads nor writes its cache. At most 24 hours ahead. A time in the past ends it.',
);

const svcNs = boundedArray(HostName).describe(
  'The accepted nameserver set to which the domain should be delegated: one of `svc_ns_sets`.',
);

/** The members that only the service sets. A PUT with one of them is rejected. */
const facts = {
  id: Id,
  name: z.string().describe('Lower-case A-labels, without the final dot.'),
  name_unicode: z.string().describe('The name in Unicode, for people.'),
  status: z.enum(DOMAIN_STATUSES),
  status_reason: z
    .object({
      code: z.enum(Object.keys(STATUS_REASONS) as [StatusReason, ...StatusReason[]]),
      message: z.string().describe('The reason as text for people.'),
    })
    .optional()
    .describe('Why the domain is `moved` or `disabled`.'),
  status_until: Timestamp.optional().describe(
    'For a `moved` domain: it is answered until then. If its parent still names other servers, it is then disabled.',
  ),
  served: z
    .enum(SERVED)
    .describe(
      'The part of the zone that the nameservers answer: everything, only SOA and NS of the apex, or nothing. The finding `APEX_ONLY` explains what to do about a pending domain that is not answered completely. When an owner has just created or enabled a managed domain, this is `apex`, whether or not other accounts wait for the name.',
    ),
  serial: z
    .int()
    .min(0)
    .describe(
      'Serial of the SOA: the time of the last change in seconds, or one more than before if that is not newer.',
    ),
  user_id: Id.describe('The account that owns it.'),
  verification_started_at: Timestamp.optional(),
  pending_since: Timestamp.optional(),
  moved_since: Timestamp.optional(),
  next_check_at: Timestamp.optional().describe('Time of the next check of its delegation.'),
  last_manual_ns_check_at: Timestamp.optional(),
  ns_check_interval_seconds: z.int().min(1).optional(),
  suspended: z.boolean().describe('Suspended. DNS is still answered.'),
  suspended_at: Timestamp.optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
  verification: Verification.optional().describe(
    'In external mode: how to prove that the domain is yours. In managed mode: for a `pending` domain whose name another account also waits for. The proof is then optional, and makes the nameservers answer everything before you switch (finding `PREPARE`).',
  ),
  svc_ns_sets: z
    .array(z.array(z.string()))
    .describe('Every nameserver set that proves the domain, its own set first.'),
  ns_turn: z
    .object({ from: Timestamp, until: Timestamp })
    .optional()
    .describe(
      'While several accounts wait for the name: the period in which the apex shows the nameservers of this claim, for registries that check before they delegate.',
    ),
  current_ns: z
    .array(z.string())
    .optional()
    .describe('The nameservers that the parent zone named at the last check.'),
  dnssec: z
    .object({ status: z.enum(DNSSEC_STATUSES) })
    .describe('`off`: not signed. See `GET …/dnssec` for the details.'),
  findings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .describe('Problems that were noticed, and what to do about them.'),
  my_role: z.enum(ROLES).describe('Your role in this domain.'),
  my_permissions: z.array(z.enum(PERMISSIONS)),
};

export const Domain = z
  .object({
    ...facts,
    ...settings,
    developer_mode_until: developerModeUntil.optional(),
    svc_ns: z
      .array(z.string())
      .describe('Its own nameserver set: the one that its parent delegates to, otherwise the chosen one.'),
  })
  .meta({ id: 'Domain' });

export const DomainCreate = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(1024)
      .describe('In any case, as Unicode or A-labels, with or without the final dot.'),
    dns_mode: z.enum(DNS_MODES).default('managed'),
    scan: z
      .boolean()
      .default(true)
      .describe(
        'If true, workers look up the records that a managed domain has at other nameservers, and import them. See `scan-import`.',
      ),
    transfer: z
      .boolean()
      .default(false)
      .describe(
        'If true, claims a name that another account uses here: the domain waits, and becomes yours when its parent zone shows your nameservers. Otherwise such a name is refused with 409 `domain_taken`.',
      ),
    dnssec: z
      .union([z.boolean(), EnableDnssec])
      .optional()
      .describe(
        "Signs a managed domain from the beginning, as `enableDnssec` does, so that the waiting times pass while it is `pending`. Default: the operator's setting for new domains.",
      ),
  })
  .meta({ id: 'DomainCreate' });

export const DomainEnable = z
  .strictObject({
    transfer: z
      .boolean()
      .default(false)
      .describe(
        'If true, the domain may wait for a name that another account uses here. It becomes yours when its parent zone shows your nameservers.',
      ),
  })
  .meta({ id: 'DomainEnable' });

const readOnly = z
  .unknown()
  .refine(() => false, 'is read-only: leave it out')
  .optional()
  .meta({ readOnly: true, description: 'Read-only. A request that sets it is refused.' });

export const DomainUpdate = z
  .strictObject({
    ...z.object(settings).partial().shape,
    developer_mode_until: developerModeUntil.optional(),
    svc_ns: svcNs.optional(),
    ...Object.fromEntries(
      [...Object.keys(facts), 'ssl', 'subscription', 'records', 'changed_at'].map(
        (name) => [name, readOnly] as const,
      ),
    ),
  } as {
    [K in keyof typeof settings]: z.ZodOptional<(typeof settings)[K]>;
  } & {
    svc_ns: z.ZodOptional<typeof svcNs>;
    developer_mode_until: z.ZodOptional<typeof developerModeUntil>;
  })
  .meta({ id: 'DomainUpdate' });

export const DomainListItem = z
  .object({
    ...Domain.shape,
    records: z.int().min(0).describe('Number of its records, without those of the service.'),
    changed_at: Timestamp.describe('Time of the newest change in its log.'),
    ssl: SslSummary.describe('Status of its certificate. `getSsl` returns more.'),
    subscription: Subscription.optional().describe('The active subscription. Only for the owner.'),
  })
  .meta({ id: 'DomainListItem' });

export const NameserverSets = z.array(z.array(z.string()).min(1)).meta({
  id: 'NameserverSets',
  description:
    'Every accepted nameserver set, the canonical one first. Only one set if the account has its own. Delegate to exactly one.',
});

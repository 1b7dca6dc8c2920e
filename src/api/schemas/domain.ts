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

/** The members that an owner sets by PUT. */
const settings = {
  dns_mode: z.enum(DNS_MODES).describe('Who publishes the zone: this service, or the owner elsewhere.'),
  cache_l2_max_gb: z.int().min(0).max(1_000_000).describe('How much of the disk cache it may take, in GB.'),
  cache_l2_ttl_days: z.int().min(1).max(7).describe('How long the disk cache keeps an entry, in days.'),
  cache_cap_mb: z.literal(CACHE_CAPS_MB).meta({
    type: 'integer',
    description: 'Larger response bodies are not cached. The plan sets the ceiling.',
  }),
  sec_no_sniff: z.boolean().describe('The edge adds X-Content-Type-Options: nosniff.'),
  sec_referrer_policy: z
    .boolean()
    .describe('The edge adds Referrer-Policy: strict-origin-when-cross-origin.'),
  sec_strip_headers: z.boolean().describe('The edge takes away headers that tell what the origin runs.'),
  markdown_for_agents: z
    .boolean()
    .describe('HTML is given as Markdown to whom asks for it. Needs an active plan.'),
  outage_alerts: z.boolean().describe('The owner is told of an origin that stays down.'),
  uptime_threshold_pct: z.int().min(50).max(100).describe('A minute with so many origin errors is down.'),
  uptime_window_min: z.int().min(2).max(60).describe('So many minutes down open an incident.'),
  uptime_min_requests: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .describe('Fewer requests in the window say nothing.'),
  uptime_min_active_min: z.int().min(1).max(60).describe('So many minutes of the window must have traffic.'),
  uptime_recover_min: z.int().min(1).max(1440).describe('So many clear minutes close an incident.'),
};

const developerModeUntil = Timestamp.describe(
  'Until then the edge neither reads nor writes its cache: at most 24 hours ahead. A time that has passed ends it.',
);

const svcNs = boundedArray(HostName).describe(
  'The accepted set that it is to be delegated to: one of `svc_ns_sets`.',
);

/** The members that only the service sets. A PUT that has one is refused. */
const facts = {
  id: Id,
  name: z.string().describe('Lower-case A-labels, without the final dot.'),
  name_unicode: z.string().describe('The same for people to read.'),
  status: z.enum(DOMAIN_STATUSES),
  status_reason: z
    .object({
      code: z.enum(Object.keys(STATUS_REASONS) as [StatusReason, ...StatusReason[]]),
      message: z.string().describe('The same for people to read.'),
    })
    .optional()
    .describe('Why a `moved` or `disabled` domain is so.'),
  status_until: Timestamp.optional().describe(
    'Of a `moved` domain: it is answered until then, and disabled if its parent still names other servers.',
  ),
  served: z
    .enum(SERVED)
    .describe(
      'What the nameservers answer: everything, SOA and NS of the apex alone, or nothing. The finding `APEX_ONLY` explains what to do about a pending domain that is not answered whole. When an owner has just created or enabled a managed domain, this is `apex`, whether or not others wait for the name.',
    ),
  serial: z.int().min(0).describe('Of the SOA; every change raises it.'),
  user_id: Id.describe('The account that owns it.'),
  verification_started_at: Timestamp.optional(),
  pending_since: Timestamp.optional(),
  moved_since: Timestamp.optional(),
  next_check_at: Timestamp.optional().describe('When its delegation is looked at again.'),
  last_manual_ns_check_at: Timestamp.optional(),
  ns_check_interval_seconds: z.int().min(1).optional(),
  suspended: z.boolean().describe('Paused for billing. DNS goes on.'),
  suspended_at: Timestamp.optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
  verification: Verification.optional().describe(
    'External mode: how to prove that the domain is yours. Of a `pending` domain in managed mode, where another account waits for the name too: optional, so that everything is answered before you switch (finding `PREPARE`).',
  ),
  svc_ns_sets: z.array(z.array(z.string())).describe('Every set that proves it, its own first.'),
  ns_turn: z
    .object({ from: Timestamp, until: Timestamp })
    .optional()
    .describe(
      'While several claims wait for the name: when its apex shows the nameservers of this one, for registries that look before they delegate.',
    ),
  current_ns: z.array(z.string()).optional().describe('What the parent zone was last seen to name.'),
  dnssec: z
    .object({ status: z.enum(DNSSEC_STATUSES) })
    .describe('`off`: it is not signed. `GET …/dnssec` has the rest.'),
  findings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .describe('What was noticed about it, with what to do.'),
  my_role: z.enum(ROLES).describe('What you are to it.'),
  my_permissions: z.array(z.enum(PERMISSIONS)),
};

export const Domain = z
  .object({
    ...facts,
    ...settings,
    developer_mode_until: developerModeUntil.optional(),
    svc_ns: z.array(z.string()).describe('Its own set: what its parent delegates to, else the chosen one.'),
  })
  .meta({ id: 'Domain' });

export const DomainCreate = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(1024)
      .describe('In any case, Unicode or A-labels, with or without final dot.'),
    dns_mode: z.enum(DNS_MODES).default('managed'),
    scan: z
      .boolean()
      .default(true)
      .describe(
        'Looks in the background for the records that a managed domain has elsewhere, and imports them: see `scan-import`.',
      ),
    transfer: z
      .boolean()
      .default(false)
      .describe(
        'Claims a name that another account uses here: the domain waits, and becomes yours when its parent zone shows your nameservers. Without it such a name is a 409 `domain_taken`.',
      ),
    dnssec: z
      .union([z.boolean(), EnableDnssec])
      .optional()
      .describe(
        'Has a managed domain signed from the beginning, as `enableDnssec` does, so that the waits run while it is `pending`. Absent: as the operator has it for new domains.',
      ),
  })
  .meta({ id: 'DomainCreate' });

export const DomainEnable = z
  .strictObject({
    transfer: z
      .boolean()
      .default(false)
      .describe(
        'Lets the domain wait for a name that another account uses here; it becomes yours when its parent zone shows your nameservers.',
      ),
  })
  .meta({ id: 'DomainEnable' });

const readOnly = z
  .unknown()
  .refine(() => false, 'is read-only: leave it out')
  .optional()
  .meta({ readOnly: true, description: 'Read-only: refused.' });

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
    records: z.int().min(0).describe('How many records it has, without those of the service.'),
    changed_at: Timestamp.describe('Of the newest change in its log.'),
    ssl: SslSummary.describe('Of its certificate; more with `getSsl`.'),
    subscription: Subscription.optional().describe('The active one. For the owner only.'),
  })
  .meta({ id: 'DomainListItem' });

export const NameserverSets = z.array(z.array(z.string()).min(1)).meta({
  id: 'NameserverSets',
  description:
    'Every accepted set, the canonical one first; one where the account has a set of its own. Delegate to exactly one.',
});

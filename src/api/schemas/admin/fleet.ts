// The fleet: nodes, observers, queues and the breaker.

import { z } from 'zod';
import { MAX_REASON } from '../../../checks/delegation/breaker.ts';
import { Id, nameText, Timestamp } from '../fields.ts';

const count = z.int().min(0);

export const Node = z
  .object({
    name: z.string(),
    state: z
      .enum(['live', 'silent', 'left'])
      .describe('`silent`: no report for 5 seconds. `left`: it was stopped.'),
    loaded: z.boolean(),
    started_at: Timestamp,
    seen_at: Timestamp,
    uptime_seconds: count,
    position: count.optional().describe('The newest change that the node has loaded.'),
    lag_seconds: z
      .number()
      .min(0)
      .optional()
      .describe('The age of the oldest change that the node has not loaded. Absent if it is not known.'),
    zones: count,
    records: count,
    unserved_zones: count.optional().describe('Absent if there are more than 1,000.'),
    held: z
      .object({ zones: count, since: Timestamp, confirmed: z.boolean() })
      .optional()
      .describe('Removals that wait for confirmation by an operator.'),
    version: z.string().optional(),
    commit: z.string().optional().describe('First digits of the Git commit.'),
    answered: count.optional().describe('Answers since `started_at`. Two calls show the rate.'),
    dropped: count
      .optional()
      .describe(
        'Answers and connections since `started_at` that a limit withheld or that could not be sent.',
      ),
    image_bytes: count.optional().describe("Used part of the node's memory for zones."),
    image_capacity_bytes: count.optional(),
  })
  .meta({ id: 'Node' });

export const SlowCall = z
  .object({
    at: Timestamp,
    method: z.string(),
    route: z.string().describe('The path with the names of its parameters, not their values.'),
    status: z.int(),
    milliseconds: count,
    user_id: Id.optional().describe('The account that called. Absent if the call was not authenticated.'),
  })
  .meta({ id: 'SlowCall' });

export const Vantage = z
  .object({
    name: z.string(),
    network: z.string(),
    address: z.string().optional(),
    created_at: Timestamp,
    seen_at: Timestamp.optional(),
    answers: count,
    dropped: count,
  })
  .meta({ id: 'Vantage' });

export const QueueDepths = z
  .object({
    name: z.string(),
    reachable: z.boolean(),
    waiting: count.optional(),
    active: count.optional(),
    delayed: count.optional().describe('Jobs that failed and will be retried.'),
    dead: count.optional().describe('Jobs that failed as often as allowed.'),
  })
  .meta({ id: 'Queue' });

const parent = z.string().optional().describe('The parent zone of the domains. Absent for all domains.');

export const RegistryHours = z
  .object({
    parent,
    hours: z
      .array(
        z.object({
          hour: Timestamp.describe('Start of the hour.'),
          checked: count.describe('Active domains that were checked.'),
          turned: count.describe('Those of them that changed to other nameservers or could not be checked.'),
          off: count.describe(
            'Those of them that showed no nameserver of this service, whether or not that was new.',
          ),
        }),
      )
      .describe('Hours without a check are omitted.'),
  })
  .meta({ id: 'RegistryHours' });

const Trip = z
  .object({
    id: Id,
    parent,
    since: Timestamp,
    checked: count,
    turned: count,
    released_at: Timestamp.optional(),
    released_by: z.string().optional(),
    ended_at: Timestamp.optional(),
    frozen_by: z
      .string()
      .optional()
      .describe('The operator who froze the moves. Absent if checks caused it.'),
    reason: z.string().optional().describe('The reason that the operator gave.'),
    until: Timestamp.optional().describe(
      'Time at which a freeze by an operator ends automatically. Absent if it lasts until an operator releases it.',
    ),
  })
  .meta({ id: 'BreakerTrip' });

export const Breaker = z
  .object({
    held: z.boolean().describe('True if status changes to `moved` and `disabled` are held back.'),
    checked: count.describe('Active domains that were checked within 15 minutes.'),
    turned: count.describe('Those of them that changed to other nameservers or could not be checked.'),
    parents: z.array(z.object({ parent, checked: count, turned: count })),
    trips: z.array(Trip).describe('The last 50, and those that still apply, newest first.'),
  })
  .meta({ id: 'Breaker' });

export const BreakerRelease = z
  .strictObject({ parent: z.string().max(1024).optional().describe('Only for domains under this zone.') })
  .meta({ id: 'BreakerRelease' });

export const BreakerFreeze = z
  .strictObject({
    parent: z
      .string()
      .max(1024)
      .optional()
      .describe('Only for domains under this zone. Default: all domains.'),
    reason: nameText(MAX_REASON)
      .refine((text) => text.trim() !== '', 'must not be blank')
      .describe('The reason, in one line. Operators see it next to the domains that are held.'),
    until: Timestamp.optional().describe(
      'Time at which the freeze ends automatically, within a year. Default: when an operator releases it.',
    ),
  })
  .meta({ id: 'BreakerFreeze' });

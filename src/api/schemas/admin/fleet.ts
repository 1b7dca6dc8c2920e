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
    position: count.optional().describe('The newest change that it has.'),
    lag_seconds: z
      .number()
      .min(0)
      .optional()
      .describe('The age of the oldest change that it does not have. Absent: not known.'),
    zones: count,
    records: count,
    unserved_zones: count.optional().describe('Absent: more than 1,000.'),
    held: z
      .object({ zones: count, since: Timestamp, confirmed: z.boolean() })
      .optional()
      .describe('Removals that wait for an operator.'),
    version: z.string().optional(),
    answered: count.optional().describe('Answers since `started_at`: two calls tell how many a second.'),
    dropped: count
      .optional()
      .describe(
        'Answers and connections since `started_at` that a limit withheld, or that could not be sent.',
      ),
    image_bytes: count.optional().describe('How much of its memory for zones is in use.'),
    image_capacity_bytes: count.optional(),
  })
  .meta({ id: 'Node' });

export const SlowCall = z
  .object({
    at: Timestamp,
    method: z.string(),
    route: z.string().describe('With the names of parameters, not their values.'),
    status: z.int(),
    milliseconds: count,
    user_id: Id.optional().describe('The account that called. Absent: nobody was signed in.'),
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
    delayed: count.optional().describe('They failed, and are tried again.'),
    dead: count.optional().describe('They failed as often as allowed.'),
  })
  .meta({ id: 'Queue' });

const parent = z.string().optional().describe('The zone above the domains. Absent: all domains.');

export const RegistryHours = z
  .object({
    parent,
    hours: z
      .array(
        z.object({
          hour: Timestamp.describe('Its beginning.'),
          checked: count.describe('Active domains that were checked.'),
          turned: count.describe('Of these, those that turned away or could not be seen.'),
          off: count.describe('Of these, those that showed nothing of ours, whether or not that was new.'),
        }),
      )
      .describe('Hours without a check are left out.'),
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
    frozen_by: z.string().optional().describe('Who made it by hand. Absent: what checks saw made it.'),
    reason: z.string().optional().describe('Why it was made by hand.'),
    until: Timestamp.optional().describe(
      'When a freeze by hand ends by itself. Absent: when somebody releases it.',
    ),
  })
  .meta({ id: 'BreakerTrip' });

export const Breaker = z
  .object({
    held: z.boolean().describe('Moves to `moved` and `disabled` are held back.'),
    checked: count.describe('Active domains that were checked within 15 minutes.'),
    turned: count.describe('Of these, those that turned away or could not be seen.'),
    parents: z.array(z.object({ parent, checked: count, turned: count })),
    trips: z.array(Trip).describe('The last 50, and those that still hold, newest first.'),
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
      .describe('Only for domains under this zone. Absent: all domains.'),
    reason: nameText(MAX_REASON)
      .refine((text) => text.trim() !== '', 'must say why')
      .describe('Why, in one line: operators read it beside what is held.'),
    until: Timestamp.optional().describe(
      'When it ends by itself, within a year. Absent: when somebody releases it.',
    ),
  })
  .meta({ id: 'BreakerFreeze' });

// Schema of the uptime of a domain.

import { z } from 'zod';
import { Timestamp } from '../../api/schemas/fields.ts';

export const Uptime = z
  .object({
    uptime_pct: z
      .number()
      .optional()
      .describe(
        'The share of the period without an incident, in percent. Absent while no minute is judged, and while no proxied record has `monitor`.',
      ),
    judged_until: Timestamp.optional().describe(
      'Until when minutes are judged: some minutes ago. Longer while the analytics store is away, and nothing is concluded.',
    ),
    incidents: z
      .array(
        z.object({
          id: z.int(),
          started_at: Timestamp,
          ended_at: Timestamp.optional().describe('Absent: it goes on.'),
          error_pct: z.number().describe('How many of the requests for origins failed, in percent.'),
        }),
      )
      .describe('Those that went on in the period, the newest first.'),
  })
  .meta({ id: 'Uptime' });

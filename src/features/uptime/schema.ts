// Schema of the uptime of a domain.

import { z } from 'zod';
import { Timestamp } from '../../api/schemas/fields.ts';

export const Uptime = z
  .object({
    uptime_pct: z
      .number()
      .optional()
      .describe(
        'Percentage of the period without an incident. Absent until a minute is evaluated, and while no proxied record has `monitor`.',
      ),
    judged_until: Timestamp.optional().describe(
      'End of the last evaluated minute, usually a few minutes ago. While the analytics store is unavailable, it is longer ago, and nothing is concluded.',
    ),
    incidents: z
      .array(
        z.object({
          id: z.int(),
          started_at: Timestamp,
          ended_at: Timestamp.optional().describe('Absent while the incident is open.'),
          error_pct: z.number().describe('Percentage of requests to origins that failed.'),
        }),
      )
      .describe('Incidents that were open in the period, newest first.'),
  })
  .meta({ id: 'Uptime' });

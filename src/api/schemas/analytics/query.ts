// What every question about requests may be narrowed by.

import { z } from 'zod';
import { MOST_HOST_CHARACTERS, MOST_PATH_CHARACTERS } from '../../../edge/analytics/narrowing.ts';
import { PERIOD_NAMES } from '../../../edge/analytics/window.ts';

export const AnalyticsQuery = z.object({
  domain: z
    .string()
    .describe('The name of the domain, as in paths. Exactly one: totals of an account are not available.'),
  period: z
    .string()
    .optional()
    .describe(
      `${PERIOD_NAMES.map((name) => `\`${name}\``).join(', ')}; any other text is \`24h\`. Up to 24 hours by the hour, else by the day, in UTC; the last one is still filling.`,
    ),
  hostname: z
    .string()
    .max(MOST_HOST_CHARACTERS)
    .optional()
    .describe('A host with its subdomains; or one label, which is that host of the domain alone.'),
  path: z
    .string()
    .max(MOST_PATH_CHARACTERS)
    .optional()
    .describe('How the path of the URL begins, as clients send it; case counts.'),
});

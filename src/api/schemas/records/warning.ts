// Warnings about records that were read or written.

import { z } from 'zod';
import { WARNING_CODES } from '../../../zone/warnings/zone-warning.ts';

const Warning = z
  .object({
    line: z.int().min(1).optional().describe('In the zone file. Counts from 1.'),
    name: z.string().describe('Owner of the record, relative to the domain; `@` is the domain itself.'),
    type: z.string(),
    code: z.enum(WARNING_CODES),
    message: z.string(),
  })
  .meta({ id: 'Warning' });

export const Warnings = z
  .array(Warning)
  .describe(
    'Records that are allowed but probably wrong, and in a parse also those that an import would leave out. A warning never prevents a write.',
  );

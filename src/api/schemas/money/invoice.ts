// An invoice, as it was issued.

import { z } from 'zod';
import { Id } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

export const Invoice = z
  .object({
    id: Id,
    number: z.string().describe('`2026-000042`: without gaps in a year (UTC).'),
    issued_at: Timestamp,
    seller: z.string().optional().describe('Who sold it, as it was on that day.'),
    buyer_name: z.string().optional().describe('As it was on that day, like the email.'),
    buyer_email: z.string(),
    domain_id: Id.optional(),
    domain: z.string().optional(),
    subscription_id: Id.optional(),
    lines: z.array(z.object({ description: z.string(), amount_rials: z.int() })),
    total_rials: z.int().describe('Below zero: it was given back.'),
    period_start: Timestamp.optional(),
    period_end: Timestamp.optional(),
  })
  .meta({ id: 'Invoice' });

// Answers errors with a page of the customer's.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';
import { distinct, page } from './text-fields.ts';

const MAX_PAGE_OCTETS = 256 * 1024;

export const errorPage = ruleKind({
  type: 'error_page',
  what: 'Answers errors with a page of its own.',
  fields: {
    status_codes: distinct(z.int().min(400).max(599), 200, 1),
    html: page(MAX_PAGE_OCTETS).describe('At most 256 KiB. Answered where one rule is read alone.'),
    content_type: z.enum(['text/html', 'text/plain', 'application/json']).default('text/html'),
  },
  gate: 'rules',
  countsDryRun: false,
  pageField: 'html',
  toEdge: ({ status_codes, html, content_type }) => ({
    type: 'error_page',
    status_codes,
    html,
    content_type,
  }),
});

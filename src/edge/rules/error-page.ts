// Replaces error responses with a custom page.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';
import { distinct, page } from './text-fields.ts';

const MAX_PAGE_OCTETS = 256 * 1024;

export const errorPage = ruleKind({
  type: 'error_page',
  what: 'Replaces error responses with a custom page.',
  fields: {
    status_codes: distinct(z.int().min(400).max(599), 200, 1),
    html: page(MAX_PAGE_OCTETS).describe('At most 256 KiB. Returned only when a single rule is read.'),
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

// Puts the customer's page in the place of an answer that failed.

import { matchesRule } from '../proxy/match-rule.ts';
import type { Answer, Visit } from '../proxy/visit.ts';

/** The first rule of the request that has a page for the status. */
export function errorPageFor(visit: Visit, status: number): (Answer & { readonly rule: number }) | undefined {
  for (const rule of visit.config.rules) {
    if (rule.type !== 'error_page' || !rule.status_codes.includes(status) || !matchesRule(rule, visit))
      continue;
    const headers = { 'content-type': `${rule.content_type}; charset=utf-8`, 'cache-control': 'no-store' };
    return { status, headers, body: rule.html, rule: rule.id };
  }
  return undefined;
}

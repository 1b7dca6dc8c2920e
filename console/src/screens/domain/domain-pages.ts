// Which pages of a domain a person may open.

import { type Domain, mayDo } from './domain-here.ts';
import type { DomainPage } from './page-groups.ts';

/** True if the page is available for this domain and this person. */
export function hasPage(page: DomainPage, domain: Domain): boolean {
  if (page === 'traffic') return mayDo(domain, 'analytics.view');
  if (page === 'secondaries') return mayDo(domain, 'domain.settings');
  if (page === 'plan') return mayDo(domain, 'billing');
  return true;
}

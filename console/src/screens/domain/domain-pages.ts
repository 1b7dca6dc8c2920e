// The pages of a domain, in the order of their tabs.

import { words } from '../../words/words.ts';
import { type Domain, mayDo } from './domain-here.ts';

export type DomainPage = keyof typeof words.domain.pages;

export const PAGES = Object.keys(words.domain.pages) as DomainPage[];

/** Pages whose routes are in domain-screen.tsx. */
const BUILT: readonly DomainPage[] = [
  'delegation',
  'records',
  'history',
  'dnssec',
  'secondaries',
  'traffic',
  'rules',
  'certificates',
  'cache',
  'uptime',
  'settings',
  'sharing',
  'plan',
];

/** True if the page is available for this domain and this person. */
export function hasPage(page: DomainPage, domain: Domain): boolean {
  if (!BUILT.includes(page)) return false;
  if (page === 'traffic') return mayDo(domain, 'analytics.view');
  if (page === 'secondaries') return mayDo(domain, 'domain.settings');
  if (page === 'plan') return mayDo(domain, 'billing');
  return true;
}

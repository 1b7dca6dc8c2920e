// The pages of a domain, by group and in the order of their links.

import type { words } from '../../words/words.ts';

export type DomainPage = keyof typeof words.domain.pages;
export type PageGroup = 'start' | keyof typeof words.domain.groups;

export const GROUPS: Readonly<Record<PageGroup, readonly DomainPage[]>> = {
  start: ['delegation'],
  dns: ['records', 'dnssec', 'history'],
  delivery: ['traffic', 'rules', 'certificates', 'cache', 'uptime'],
  manage: ['sharing', 'secondaries', 'plan', 'settings'],
};

/** Returns the page of a path below the domain's, such as `records/import`, and its group. */
export function pageAt(below: string): { readonly page: DomainPage; readonly group: PageGroup } | undefined {
  const page = below.split('/')[0] as DomainPage;
  const group = (Object.keys(GROUPS) as PageGroup[]).find((each) => GROUPS[each].includes(page));
  return group === undefined ? undefined : { page, group };
}

// Navigation: every view has a URL, and its filters are in the query.

import type { AllHTMLAttributes, AnchorHTMLAttributes, ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { BASE } from './base.ts';

interface LinkProps extends Omit<AllHTMLAttributes<HTMLAnchorElement>, 'href' | 'role'> {
  /** A path without the base, such as `/domains`. */
  readonly to: string;
  readonly children: ComponentChildren;
}

export function Link({ to, ...rest }: LinkProps) {
  return <a {...({ ...rest, href: BASE + to } as AnchorHTMLAttributes)} />;
}

/** Like `Link`, and marks the link of the current page. */
export function PlaceLink({ to, children }: LinkProps) {
  const { path } = usePlace();
  return (
    <Link to={to} aria-current={path === to || path.startsWith(`${to}/`) ? 'page' : undefined}>
      {children}
    </Link>
  );
}

interface Place {
  /** Current path without the base. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly go: (to: string, replace?: boolean) => void;
  /** Changes members of the query and keeps the others. An empty value removes a member. */
  readonly setQuery: (changes: Readonly<Record<string, string | undefined>>) => void;
}

export function usePlace(): Place {
  const { path, query, route } = useLocation();
  const below = path.slice(BASE.length);
  return {
    path: below === '' ? '/domains' : below,
    query,
    go: (to, replace = false) => route(BASE + to, replace),
    setQuery(changes) {
      const wanted = Object.entries({ ...query, ...changes }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
      );
      const text = new URLSearchParams(wanted).toString();
      route(path + (text === '' ? '' : `?${text}`), true);
    },
  };
}

/** Path of a page of a domain. */
export function domainPath(domain: string, page = ''): string {
  return `/domains/${encodeURIComponent(domain)}${page === '' ? '' : `/${page}`}`;
}

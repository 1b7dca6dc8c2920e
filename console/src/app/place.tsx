// Where the person is: every view has a URL, and what filters a view stands in its query.

import type { AllHTMLAttributes, AnchorHTMLAttributes, ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { BASE } from './base.ts';

interface LinkProps extends Omit<AllHTMLAttributes<HTMLAnchorElement>, 'href' | 'role'> {
  /** A path without the base: `/domains`. */
  readonly to: string;
  readonly children: ComponentChildren;
}

export function Link({ to, ...rest }: LinkProps) {
  return <a {...({ ...rest, href: BASE + to } as AnchorHTMLAttributes)} />;
}

/** Like `Link`, and says that it is where the person is. */
export function PlaceLink({ to, children }: LinkProps) {
  const { path } = usePlace();
  return (
    <Link to={to} aria-current={path === to || path.startsWith(`${to}/`) ? 'page' : undefined}>
      {children}
    </Link>
  );
}

interface Place {
  /** Without the base. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly go: (to: string, replace?: boolean) => void;
  /** Changes members of the query and keeps the rest; an empty value takes one out. */
  readonly setQuery: (changes: Readonly<Record<string, string | undefined>>) => void;
}

export function usePlace(): Place {
  const { path, query, route } = useLocation();
  const below = path.slice(BASE.length);
  return {
    path: below === '' ? '/' : below,
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

/** The path of a domain's page. */
export function domainPath(domain: string, page = ''): string {
  return `/domains/${encodeURIComponent(domain)}${page === '' ? '' : `/${page}`}`;
}

// One domain: its name, status and pages. The domain is loaded once here; its pages share it.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Route, Router } from 'preact-iso';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import { NotFound } from '../../app/not-found.tsx';
import { domainPath, PlaceLink } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { words } from '../../words/words.ts';

export type Domain = Schemas['Domain'];

interface DomainHere {
  /** As in the path: the name that calls take. */
  readonly name: string;
  readonly domain: Domain;
  /** Puts in what a write answered. */
  readonly setDomain: (domain: Domain) => void;
  readonly reloadDomain: () => Promise<void>;
}

const Here = createContext<DomainHere | undefined>(undefined);

/** The domain whose page this is. */
export function useDomain(): DomainHere {
  const here = useContext(Here);
  if (here === undefined) throw new Error('this is no page of a domain');
  return here;
}

export function mayDo(domain: Domain, permission: string): boolean {
  return (domain.my_permissions as readonly string[] | undefined)?.includes(permission) === true;
}

export default function DomainScreen({ domain: name = '' }: { readonly domain?: string }) {
  return <DomainPages key={name} name={name} />;
}

function DomainPages({ name }: { readonly name: string }) {
  const loaded: Loaded<Domain> = useLoad(`domain ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}', { params: { path: { domain: name } }, signal })),
  );
  return (
    <Loading of={loaded}>
      {(domain) => (
        <Here.Provider value={{ name, domain, setDomain: loaded.set, reloadDomain: loaded.reload }}>
          <div class="head">
            <h1>{domain.name_unicode}</h1>
            <StatusBadge status={domain.status} />
          </div>
          <Tabs name={name} domain={domain} />
          <Router>{[<Route key="none" default component={NotFound} />]}</Router>
        </Here.Provider>
      )}
    </Loading>
  );
}

type Page = keyof typeof words.domain.pages;

/** Whether a page has anything for this domain and this person. */
function hasPage(page: Page, domain: Domain): boolean {
  if (page === 'sharing') return mayDo(domain, 'members.manage');
  if (page === 'plan') return mayDo(domain, 'billing');
  return true;
}

function Tabs({ name, domain }: { readonly name: string; readonly domain: Domain }) {
  const pages = (Object.keys(words.domain.pages) as Page[]).filter((page) => hasPage(page, domain));
  return (
    <nav class="tabs" aria-label={words.domain.navigation}>
      {pages.map((page) => (
        <PlaceLink key={page} to={domainPath(name, page)}>
          {words.domain.pages[page]}
        </PlaceLink>
      ))}
    </nav>
  );
}

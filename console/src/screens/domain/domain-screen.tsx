// One domain: its name, status and pages. The domain is loaded once here; its pages share it.

import { useEffect } from 'preact/hooks';
import { lazy, Route, Router } from 'preact-iso';
import { api, dataOf } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import { NotFound } from '../../app/not-found.tsx';
import { domainPath, PlaceLink, usePlace } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { words } from '../../words/words.ts';
import { type Domain, Here, mayDo, useDomain } from './domain-here.ts';

const Delegation = lazy(() => import('../delegation/delegation-screen.tsx'));
const Records = lazy(() => import('../records/records-screen.tsx'));
const Import = lazy(() => import('../records/import-screen.tsx'));
const Scan = lazy(() => import('../records/scan-screen.tsx'));
const History = lazy(() => import('../history/history-screen.tsx'));
const Change = lazy(() => import('../history/change-screen.tsx'));

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
          <Router>
            <Route path="/" component={FirstPage} />
            <Route path="/delegation" component={Delegation} />
            <Route path="/records" component={Records} />
            <Route path="/records/import" component={Import} />
            <Route path="/records/scan" component={Scan} />
            <Route path="/history" component={History} />
            <Route path="/history/:change" component={Change} />
            <Route default component={NotFound} />
          </Router>
        </Here.Provider>
      )}
    </Loading>
  );
}

type Page = keyof typeof words.domain.pages;

/** Who opens a domain wants to work on it if it is live, else to see what is missing. */
function FirstPage() {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const page = domain.status === 'active' && BUILT.includes('records') ? 'records' : 'delegation';
  useEffect(() => go(domainPath(name, page), true), [name, page]);
  return null;
}

/** The pages that there are; add one's route above as well. */
const BUILT: readonly Page[] = ['delegation', 'records', 'history'];

/** Whether a page is there, and has anything for this domain and this person. */
function hasPage(page: Page, domain: Domain): boolean {
  if (!BUILT.includes(page)) return false;
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

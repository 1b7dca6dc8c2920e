// One domain: its name, status and pages. The domain is loaded here once and shared by its pages.

import { useEffect } from 'preact/hooks';
import { Route, Router } from 'preact-iso';
import { api, dataOf } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import { Boundary, lazyScreen } from '../../app/boundary.tsx';
import { NotFound } from '../../app/not-found.tsx';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { words } from '../../words/words.ts';
import { type Domain, Here, useDomain } from './domain-here.ts';
import { DomainNavigation } from './domain-navigation.tsx';
import { hasPage } from './domain-pages.ts';

const Delegation = lazyScreen(() => import('../delegation/delegation-screen.tsx'));
const Records = lazyScreen(() => import('../records/records-screen.tsx'));
const Import = lazyScreen(() => import('../records/import-screen.tsx'));
const Scan = lazyScreen(() => import('../records/scan-screen.tsx'));
const Email = lazyScreen(() => import('../email/email-screen.tsx'));
const Templates = lazyScreen(() => import('../templates/templates-screen.tsx'));
const History = lazyScreen(() => import('../history/history-screen.tsx'));
const Change = lazyScreen(() => import('../history/change-screen.tsx'));
const Settings = lazyScreen(() => import('../domain-settings/settings-screen.tsx'));
const Sharing = lazyScreen(() => import('../sharing/sharing-page.tsx'));
const Plan = lazyScreen(() => import('../plan/plan-page.tsx'));
const Dnssec = lazyScreen(() => import('../dnssec/dnssec-screen.tsx'));
const Secondaries = lazyScreen(() => import('../secondaries/secondaries-screen.tsx'));
const Cache = lazyScreen(() => import('../cache/cache-screen.tsx'));
const Uptime = lazyScreen(() => import('../uptime/uptime-screen.tsx'));
const Certificates = lazyScreen(() => import('../certificates/certificates-screen.tsx'));
const Rules = lazyScreen(() => import('../rules/rules-screen.tsx'));
const Traffic = lazyScreen(() => import('../traffic/traffic-screen.tsx'));

export default function DomainScreen({ domain: name = '' }: { readonly domain?: string }) {
  return <DomainPages key={name} name={name} />;
}

function DomainPages({ name }: { readonly name: string }) {
  const loaded: Loaded<Domain> = useLoad(`domain ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}', { params: { path: { domain: name } }, signal })),
  );
  const shown = loaded.data;
  useEffect(() => {
    if (shown === undefined) return;
    const before = document.title;
    document.title = words.domain.title(shown.name_unicode, words.statuses[shown.status]);
    return () => {
      document.title = before;
    };
  }, [shown?.name_unicode, shown?.status]);
  return (
    <Loading of={loaded}>
      {(domain) => (
        <Here.Provider value={{ name, domain, setDomain: loaded.set, reloadDomain: loaded.reload }}>
          <Link to="/domains" class="back">
            <span aria-hidden="true">‹</span> {words.frame.domains}
          </Link>
          <div class="head">
            <h1>{domain.name_unicode}</h1>
            <StatusBadge status={domain.status} />
          </div>
          <DomainNavigation name={name} domain={domain} />
          <Boundary>
            <Router>
              <Route path="/" component={FirstPage} />
              <Route path="/delegation" component={Delegation} />
              <Route path="/records" component={Records} />
              <Route path="/records/import" component={Import} />
              <Route path="/records/scan" component={Scan} />
              <Route path="/records/email" component={Email} />
              <Route path="/records/templates" component={Templates} />
              <Route path="/history" component={History} />
              <Route path="/history/:change" component={Change} />
              <Route path="/settings" component={Settings} />
              <Route path="/sharing" component={Sharing} />
              <Route path="/plan" component={Plan} />
              <Route path="/dnssec" component={Dnssec} />
              <Route path="/secondaries" component={Secondaries} />
              <Route path="/traffic" component={Traffic} />
              <Route path="/rules" component={Rules} />
              <Route path="/certificates" component={Certificates} />
              <Route path="/cache" component={Cache} />
              <Route path="/uptime" component={Uptime} />
              <Route default component={NotFound} />
            </Router>
          </Boundary>
        </Here.Provider>
      )}
    </Loading>
  );
}

/** Opens the records of a live domain, and the delegation of any other. */
function FirstPage() {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const page = domain.status === 'active' && hasPage('records', domain) ? 'records' : 'delegation';
  useEffect(() => go(domainPath(name, page), true), [name, page]);
  return null;
}

// The links to the pages of a domain. Pages about the edge are less prominent until a record is proxied.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Navigation } from '../../app/navigation.tsx';
import { domainPath, Link, PlaceLink, usePlace } from '../../app/place.tsx';
import { Note } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';
import type { Domain } from './domain-here.ts';
import { hasPage } from './domain-pages.ts';
import { GROUPS, type PageGroup, pageAt } from './page-groups.ts';

const text = words.domain;

export function DomainNavigation({ name, domain }: { readonly name: string; readonly domain: Domain }) {
  const here = usePageHere(name);
  const isDelivery = here?.group === 'delivery';
  const isQuiet = useHasProxied(name, isDelivery) === false;
  return (
    <>
      <Navigation
        class="tabs domain-pages"
        label={text.navigation}
        here={here === undefined ? text.navigation : titleOf(here.group, text.pages[here.page])}
      >
        {(Object.keys(GROUPS) as PageGroup[]).map((each) => (
          <div key={each} class={each === 'delivery' && isQuiet ? 'quiet' : undefined}>
            {each !== 'start' && <h2>{text.groups[each]}</h2>}
            <div class="row">
              {GROUPS[each]
                .filter((page) => hasPage(page, domain))
                .map((page) => (
                  <PlaceLink key={page} to={domainPath(name, page)}>
                    {text.pages[page]}
                  </PlaceLink>
                ))}
            </div>
          </div>
        ))}
      </Navigation>
      {isDelivery && here.page !== 'traffic' && isQuiet && (
        <Note>
          {text.notProxied} <Link to={domainPath(name, 'records')}>{text.toRecords}</Link>
        </Note>
      )}
    </>
  );
}

function usePageHere(name: string): ReturnType<typeof pageAt> {
  const { path } = usePlace();
  return pageAt(path.slice(domainPath(name).length + 1));
}

function titleOf(group: PageGroup, page: string): string {
  return group === 'start' ? page : `${text.groups[group]} › ${page}`;
}

/** Undefined until it is known. Loaded again when the pages about the edge are entered, because records may have changed. */
function useHasProxied(name: string, isDelivery: boolean): boolean | undefined {
  const loaded = useLoad(`proxied ${name} ${isDelivery}`, (signal) =>
    dataOf(
      api.GET('/domains/{domain}/records/', {
        params: { path: { domain: name }, query: { proxied: true, limit: 1 } },
        signal,
      }),
    ),
  );
  return loaded.data === undefined ? undefined : loaded.data.length > 0;
}

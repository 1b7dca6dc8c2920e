// The cached responses of a domain, and purges.

import './cache.css';
import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { count, exact, Time } from '../../parts/time.tsx';
import { cache } from '../../words/cache.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { bytes } from '../traffic/units.ts';
import { PurgeCard, PurgeProgress } from './purge-card.tsx';

const text = cache;

type Entry = Schemas['CachedEntry'];

const PAGE = 100;

export default function CacheScreen() {
  const { name, domain } = useDomain();
  const { query, setQuery } = usePlace();
  const { host = '', path = '' } = query;
  const offset = Math.max(0, Math.trunc(Number(query.offset)) || 0);
  const [purge, setPurge] = useState<number>();
  const mayPurge = mayDo(domain, 'cache.edit');
  const loaded = useLoad(`cache ${name} ${host} ${path} ${offset}`, (signal) =>
    dataOf(
      api.GET('/domains/{domain}/cache/keys', {
        params: {
          path: { domain: name },
          query: { limit: PAGE, offset, ...(host !== '' && { host }), ...(path !== '' && { path }) },
        },
        signal,
      }),
    ),
  );
  const purgeEntry = useAction(async ({ hostname, store_path }: Entry) => {
    const { purge: begun } = await dataOf(
      api.DELETE('/domains/{domain}/cache/', {
        params: { path: { domain: name } },
        body: { hostname, store_path },
      }),
    );
    setPurge(begun.id);
  });
  const isFiltered = host !== '' || path !== '';
  return (
    <div class="stack cache">
      {mayPurge && <PurgeCard onBegun={setPurge} />}
      {purge !== undefined && <PurgeProgress key={purge} id={purge} onDone={() => void loaded.reload()} />}
      <section class="card">
        <div class="row spread">
          <h2>{text.cached}</h2>
          <Button onClick={() => void loaded.reload()} isBusy={loaded.isLoading}>
            {text.reload}
          </Button>
        </div>
        <form
          class="cache-form"
          key={`${host} ${path}`}
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            setQuery({
              host: String(form.get('host') ?? '').trim(),
              path: String(form.get('path') ?? '').trim(),
              offset: undefined,
            });
          }}
        >
          <TextField label={text.host} name="host" defaultValue={host} hint={text.filterHint} />
          <TextField label={text.path} name="path" defaultValue={path} />
          <div class="row">
            <Button type="submit">{text.filter}</Button>
            {isFiltered && (
              <Button kind="bare" onClick={() => setQuery({ host: '', path: '', offset: undefined })}>
                {text.noFilter}
              </Button>
            )}
          </div>
        </form>
        <Failure error={purgeEntry.error} />
        <Loading of={loaded}>
          {({ rows, total, dropped }) =>
            rows.length === 0 ? (
              <Empty title={isFiltered ? text.noMatch : text.empty}>
                <p>{isFiltered ? text.noMatchText : text.emptyText}</p>
              </Empty>
            ) : (
              <>
                <p class="quiet">
                  {text.range(offset + 1, offset + rows.length, count(total))}
                  {dropped !== undefined && ` ${text.dropped(dropped)}`}
                </p>
                <Table
                  caption={text.cached}
                  columns={columnsOf(mayPurge ? (entry) => void purgeEntry.run(entry) : undefined)}
                  rows={rows}
                  keyOf={({ node, store_path: place, hostname }) => `${node} ${hostname} ${place}`}
                />
                <div class="row">
                  <Button
                    disabled={offset === 0}
                    onClick={() => setQuery({ offset: String(Math.max(0, offset - PAGE) || '') })}
                  >
                    {text.before}
                  </Button>
                  <Button
                    disabled={offset + rows.length >= total}
                    onClick={() => setQuery({ offset: String(offset + PAGE) })}
                  >
                    {text.after}
                  </Button>
                </div>
              </>
            )
          }
        </Loading>
      </section>
    </div>
  );
}

function columnsOf(onPurge: ((entry: Entry) => void) | undefined): readonly Column<Entry>[] {
  const uri = ({ path, query }: Entry) => (query === '' ? path : `${path}?${query}`);
  return [
    { key: 'host', title: text.host, cell: ({ host }) => host, text: ({ host }) => host },
    {
      key: 'path',
      title: text.path,
      cell: (entry) => <span class="cache-path">{uri(entry)}</span>,
      text: uri,
    },
    { key: 'node', title: text.edge, cell: ({ node }) => node, text: ({ node }) => node },
    {
      key: 'size',
      title: text.size,
      isNumber: true,
      cell: ({ size }) => bytes(size),
      text: ({ size }) => size,
    },
    {
      key: 'at',
      title: text.cachedAt,
      cell: ({ cached_at: at }) => <Time at={at} />,
      text: ({ cached_at: at }) => exact(at),
    },
    {
      key: 'until',
      title: text.expires,
      cell: ({ expires_at: at }) => <Time at={at} />,
      text: ({ expires_at: at }) => exact(at),
    },
    ...(onPurge === undefined
      ? []
      : [
          {
            key: 'purge',
            title: text.action,
            cell: (entry: Entry) => (
              <Button
                kind="bare"
                aria-label={text.purgeOne(`${entry.host}${uri(entry)}`)}
                onClick={() => onPurge(entry)}
              >
                {text.take}
              </Button>
            ),
          },
        ]),
  ];
}

// The list of domains: searched while typing, filtered, paged.

import { useEffect, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/words.ts';

type Row = Schemas['DomainListItem'];

export default function DomainsScreen() {
  const { query, setQuery } = usePlace();
  const [search, setSearch] = useState(query.search ?? '');
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ search }), 200);
    return () => clearTimeout(timer);
  }, [search]);
  const loaded = useLoad(`domains ${query.search ?? ''}`, (signal) =>
    dataOf(api.GET('/domains/', { params: { query: { limit: 50, search: query.search } }, signal })),
  );
  return (
    <>
      <div class="head">
        <h1>{words.frame.domains}</h1>
      </div>
      <input
        type="search"
        aria-label="search"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <Loading of={loaded}>
        {(rows) => (
          <Table<Row>
            caption={words.frame.domains}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                key: 'name',
                title: 'name',
                cell: ({ name, name_unicode }) => (
                  <Link to={domainPath(name, 'delegation')}>{name_unicode}</Link>
                ),
                text: ({ name }) => name,
              },
              {
                key: 'status',
                title: 'status',
                cell: ({ status }) => <StatusBadge status={status} />,
                text: ({ status }) => status,
              },
              {
                key: 'at',
                title: 'changed',
                cell: ({ updated_at }) => <Time at={updated_at} />,
                text: ({ updated_at }) => updated_at,
              },
            ]}
          />
        )}
      </Loading>
    </>
  );
}

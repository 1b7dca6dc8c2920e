// The list of domains. Search, filters, order and page are in the URL.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { pageOf } from '../../api/use-pages.ts';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { AddDomain } from './add-domain.tsx';
import { AddMany } from './add-many.tsx';
import { DeleteMany } from './delete-many.tsx';
import { domainQuery, FILTERS, isFiltered, PAGE_ROWS } from './domain-query.ts';
import type { DomainRow } from './domain-row.ts';
import './domains.css';
import { ExportList } from './export-list.tsx';
import { FilterBar } from './filter-bar.tsx';
import { ListTable } from './list-table.tsx';
import { Pager } from './pager.tsx';
import { useSparklines } from './use-sparklines.ts';

export default function DomainsScreen() {
  const { query, setQuery } = usePlace();
  const wanted = domainQuery(query);
  const key = JSON.stringify([wanted, query.cursor]);
  const loaded = useLoad(`domains ${key}`, (signal) =>
    pageOf(
      api.GET('/domains/', {
        params: { query: { ...wanted, limit: PAGE_ROWS, ...(query.cursor && { cursor: query.cursor }) } },
        signal,
      }),
    ),
  );
  const rows = loaded.data?.items;
  const sparklines = useSparklines(rows);
  const [chosen, setChosen] = useState<ReadonlyMap<number, DomainRow>>(new Map());
  const isManaged = person().provider !== undefined;
  const close = () => setQuery({ open: undefined });
  const isEmpty = rows?.length === 0 && !isFiltered(query) && query.cursor === undefined;
  return (
    <div class="domains">
      <div class="head">
        <h1>{words.frame.domains}</h1>
        {!isManaged && !isEmpty && (
          <div class="actions row">
            <Button onClick={() => setQuery({ open: 'export' })}>{domains.export.open}</Button>
            <Button onClick={() => setQuery({ open: 'many' })}>{domains.many.open}</Button>
            <Button kind="main" onClick={() => setQuery({ open: 'add' })}>
              {domains.add.open}
            </Button>
          </div>
        )}
      </div>
      {!isEmpty && <FilterBar />}
      {chosen.size > 0 && (
        <div class="domains-chosen note row spread" role="status">
          <span>{domains.chosen(chosen.size)}</span>
          <span class="row">
            <Button kind="danger" onClick={() => setQuery({ open: 'delete' })}>
              {domains.remove.open}
            </Button>
            <Button kind="bare" onClick={() => setChosen(new Map())}>
              {domains.chooseNone}
            </Button>
          </span>
        </div>
      )}
      <Loading of={loaded}>
        {({ items, cursor, previous }) =>
          isEmpty ? (
            <FirstDomain isManaged={isManaged} />
          ) : items.length === 0 ? (
            <Empty title={domains.noMatch}>
              <p>{domains.noMatchText}</p>
              <Button onClick={() => setQuery(Object.fromEntries(FILTERS.map((each) => [each, undefined])))}>
                {domains.showAll}
              </Button>
            </Empty>
          ) : (
            <>
              <ListTable
                rows={items}
                sparklines={sparklines}
                chosen={isManaged ? undefined : chosen}
                onChoose={setChosen}
              />
              <Pager next={cursor} previous={previous} rows={items.length} wanted={wanted} />
            </>
          )
        }
      </Loading>
      {query.open === 'add' && <AddDomain onClose={close} />}
      {query.open === 'many' && <AddMany onClose={close} onAdded={() => void loaded.reload()} />}
      {query.open === 'export' && <ExportList onClose={close} />}
      {query.open === 'delete' && chosen.size > 0 && (
        <DeleteMany
          rows={[...chosen.values()]}
          onClose={close}
          onDeleted={(gone) => {
            setChosen(new Map([...chosen].filter(([id]) => !gone.has(id))));
            void loaded.reload();
          }}
        />
      )}
    </div>
  );
}

function FirstDomain({ isManaged }: { readonly isManaged: boolean }) {
  const { setQuery } = usePlace();
  return (
    <Empty title={domains.none}>
      {isManaged ? (
        <p>{domains.noneManaged}</p>
      ) : (
        <>
          <ol class="domains-steps">
            {domains.steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          <p class="row domains-first">
            <Button kind="main" onClick={() => setQuery({ open: 'add' })}>
              {domains.add.open}
            </Button>
            <Button onClick={() => setQuery({ open: 'many' })}>{domains.many.open}</Button>
          </p>
        </>
      )}
    </Empty>
  );
}

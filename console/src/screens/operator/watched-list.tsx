// A list for operators: filters, a table that refreshes, and a button for more.

import type { ComponentChildren } from 'preact';
import type { Pages } from '../../api/use-pages.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { operator } from '../../words/operator.ts';
import { Freshness, useEvery10s } from './fresh.tsx';

export const AT_ONCE = 50;

interface WatchedListProps<T> {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly filters: ComponentChildren;
  /** Query members that are filters. */
  readonly filterNames: readonly string[];
  readonly pages: Pages<T>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => number;
  /** Shown if the list is empty without filters. */
  readonly none: { readonly title: string; readonly text?: string };
}

export function WatchedList<T>(props: WatchedListProps<T>) {
  const { title, actions, filters, filterNames, pages, columns, keyOf, none } = props;
  const { query, setQuery } = usePlace();
  const say = operator;
  const isFiltered = filterNames.some((name) => query[name] !== undefined);
  // A refresh would remove the further pages while they are being read.
  const isFirstPage = (pages.loaded.data?.items.length ?? 0) <= AT_ONCE;
  useEvery10s(pages.loaded.reload, isFirstPage && !pages.isLoadingMore);
  return (
    <div class="stack">
      <div class="head">
        <h1>{title}</h1>
        <div class="actions row">
          {isFirstPage && <Freshness of={pages.loaded} />}
          {actions}
        </div>
      </div>
      <search class="ope-filters">{filters}</search>
      <Loading of={pages.loaded}>
        {({ items }) =>
          items.length > 0 ? (
            <Table<T> caption={title} rows={items} keyOf={keyOf} columns={columns} />
          ) : isFiltered ? (
            <Empty title={say.noMatch}>
              <p>{say.noMatchText}</p>
              <Button
                onClick={() => setQuery(Object.fromEntries(filterNames.map((name) => [name, undefined])))}
              >
                {say.clear}
              </Button>
            </Empty>
          ) : (
            <Empty title={none.title}>{none.text !== undefined && <p>{none.text}</p>}</Empty>
          )
        }
      </Loading>
      <More of={pages} />
    </div>
  );
}

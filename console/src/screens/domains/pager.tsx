// Buttons for the next and previous page, with the cursors of the current page.

import { api } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { count } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { type domainQuery, PAGE_ROWS } from './domain-query.ts';

interface PagerProps {
  readonly next: string | undefined;
  readonly previous: string | undefined;
  readonly rows: number;
  readonly wanted: ReturnType<typeof domainQuery>;
}

export function Pager({ next, previous, rows, wanted }: PagerProps) {
  const { query, setQuery } = usePlace();
  const list = JSON.stringify(wanted);
  const page = Math.max(1, Number(query.page) || 1);
  const total = useLoad(`count ${list}`, async (signal) => {
    const { response } = await api.GET('/domains/', {
      params: { query: { ...wanted, limit: 1, count: true } },
      signal,
    });
    return Number(response.headers.get('X-Total-Count'));
  });
  const turn = (to: number, cursor: string | undefined) => {
    setQuery({ cursor, page: to === 1 ? undefined : String(to) });
    scrollTo(0, 0);
  };
  const from = (page - 1) * PAGE_ROWS + 1;
  return (
    <nav class="row spread domains-pager" aria-label={domains.pages}>
      <span class="quiet" role="status">
        {domains.shown(count(from), count(from + rows - 1), total.data && count(total.data))}
      </span>
      <span class="row">
        {page > 2 && <Button onClick={() => turn(1, undefined)}>{domains.firstPage}</Button>}
        {previous !== undefined && (
          <Button onClick={() => turn(Math.max(1, page - 1), page <= 2 ? undefined : previous)}>
            {domains.pageBefore}
          </Button>
        )}
        {next !== undefined && <Button onClick={() => turn(page + 1, next)}>{domains.nextPage}</Button>}
      </span>
    </nav>
  );
}

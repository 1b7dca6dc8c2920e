// Invoices of the account or of one domain, each with a printable page.

import { api, type Schemas } from '../../api/client.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Table } from '../../parts/table.tsx';
import { exact, Time } from '../../parts/time.tsx';
import { wallet } from '../../words/wallet.ts';
import { rials } from './rials.ts';

type Invoice = Schemas['Invoice'];
const AT_ONCE = 50;
const text = wallet.invoices;

export function InvoiceList({ domain }: { readonly domain?: string }) {
  const pages = usePages<Invoice>(`invoices ${domain ?? ''}`, (cursor, signal) => {
    const query = { limit: AT_ONCE, ...(cursor && { cursor }) };
    return domain === undefined
      ? pageOf(api.GET('/invoices', { params: { query }, signal }))
      : pageOf(api.GET('/domains/{domain}/invoices', { params: { path: { domain }, query }, signal }));
  });
  return (
    <Loading of={pages.loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <p class="quiet">{text.none}</p>
        ) : (
          <>
            <Table<Invoice>
              caption={wallet.pages.invoices}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'number',
                  title: text.number,
                  cell: ({ id, number }) => (
                    <a href={`/invoices/${id}/print`} target="_blank" rel="noopener">
                      {number}
                      <span class="only-read"> {text.print}</span>
                    </a>
                  ),
                  text: ({ number }) => number,
                },
                {
                  key: 'at',
                  title: text.issued,
                  cell: ({ issued_at }) => <Time at={issued_at} />,
                  text: ({ issued_at }) => issued_at,
                },
                {
                  key: 'for',
                  title: text.for,
                  cell: ({ lines, period_start, period_end }) => (
                    <>
                      {lines.map(({ description }) => (
                        <div key={description}>{description}</div>
                      ))}
                      {period_start !== undefined && period_end !== undefined && (
                        <div class="quiet">
                          {text.period(exact(period_start).slice(0, 10), exact(period_end).slice(0, 10))}
                        </div>
                      )}
                    </>
                  ),
                  text: ({ lines }) => lines.map(({ description }) => description).join('; '),
                },
                {
                  key: 'total',
                  title: text.total,
                  isNumber: true,
                  cell: ({ total_rials }) => rials(total_rials),
                  text: ({ total_rials }) => total_rials,
                },
              ]}
            />
            <p class="quiet">{text.printHint}</p>
            <More of={pages} />
          </>
        )
      }
    </Loading>
  );
}

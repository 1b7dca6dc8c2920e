// The person's tickets, newest first.

import { api, type Schemas } from '../../api/client.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { Link, usePlace } from '../../app/place.tsx';
import { Empty } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { tickets } from '../../words/tickets.ts';
import { words } from '../../words/words.ts';
import { TicketStatus } from './ticket-status.tsx';

type Ticket = Schemas['Ticket'];
const AT_ONCE = 50;
const STATUSES = ['open', 'answered', 'closed'] as const;
const text = tickets;

export function TicketList() {
  const { query, setQuery } = usePlace();
  const status = STATUSES.find((each) => each === query.status);
  const pages = usePages(`tickets ${status ?? ''}`, (cursor, signal) =>
    pageOf(
      api.GET('/tickets', {
        params: { query: { limit: AT_ONCE, ...(status && { status }), ...(cursor && { cursor }) } },
        signal,
      }),
    ),
  );
  return (
    <>
      <div class="head">
        <h1>{words.frame.tickets}</h1>
        <div class="actions">
          <Link class="button main" to="/tickets/new">
            {text.new}
          </Link>
        </div>
      </div>
      <div class="tickets-filter">
        <SelectField
          label={domains.filters.status}
          value={status ?? ''}
          onChange={(event) => setQuery({ status: event.currentTarget.value })}
          choices={[
            { value: '', label: domains.filters.all },
            ...STATUSES.map((value) => ({ value, label: text.statuses[value] })),
          ]}
        />
      </div>
      <Loading of={pages.loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={status === undefined ? text.none : text.noMatch}>
              <p>{text.noneText}</p>
            </Empty>
          ) : (
            <Table<Ticket>
              caption={words.frame.tickets}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'subject',
                  title: text.subject,
                  cell: ({ id, subject }) => <Link to={`/tickets/${id}`}>{subject}</Link>,
                  text: ({ subject }) => subject,
                },
                {
                  key: 'status',
                  title: domains.columns.status,
                  cell: ({ status }) => <TicketStatus status={status} />,
                  text: ({ status }) => status,
                },
                {
                  key: 'at',
                  title: text.last,
                  cell: ({ updated_at }) => <Time at={updated_at} />,
                  text: ({ updated_at }) => updated_at,
                },
              ]}
            />
          )
        }
      </Loading>
      <More of={pages} />
    </>
  );
}

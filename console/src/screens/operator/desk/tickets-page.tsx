// Tickets of all accounts, by default those waiting for an answer, oldest first.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin } from '../../../api/client.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link, usePlace } from '../../../app/place.tsx';
import { Badge } from '../../../parts/status.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { ChoiceFilter, ID, idIn, oneOf, TextFilter } from '../filters.tsx';
import { AT_ONCE, WatchedList } from '../watched-list.tsx';

type Row = components['schemas']['AdminTicket'];
const say = operator.tickets;
const STATUSES = ['open', 'answered', 'closed'] as const;
export const TICKET_TONES = { open: 'warn', answered: 'good', closed: '' } as const;

export default function TicketsPage() {
  const { query } = usePlace();
  const wish = {
    status: query.status === 'all' ? undefined : (oneOf(query.status, STATUSES) ?? ('open' as const)),
    priority: query.priority === 'true' ? true : undefined,
    user: idIn(query.user),
  };
  const pages = usePages<Row>(`operator tickets ${JSON.stringify(wish)}`, (cursor, signal) =>
    pageOf(admin.GET('/admin/tickets', { params: { query: { ...wish, limit: AT_ONCE, cursor } }, signal })),
  );
  return (
    <WatchedList<Row>
      title={words.frame.operatorPages.tickets}
      pages={pages}
      keyOf={({ id }) => id}
      none={{ title: say.none, text: say.noneText }}
      filterNames={['status', 'priority', 'user']}
      filters={
        <>
          <ChoiceFilter
            name="status"
            label={say.filters.status}
            first={say.statuses.open}
            choices={[
              ['answered', say.statuses.answered],
              ['closed', say.statuses.closed],
              ['all', operator.all],
            ]}
          />
          <ChoiceFilter
            name="priority"
            label={say.filters.priority}
            first={say.anyPriority}
            choices={[['true', say.onlyPriority]]}
          />
          <TextFilter
            name="user"
            label={operator.accountNumber}
            hint={operator.audit.filters.number}
            pattern={ID}
          />
        </>
      }
      columns={[
        {
          key: 'subject',
          title: say.columns.subject,
          cell: ({ id, subject }) => <Link to={`/operator/tickets/${id}`}>{subject}</Link>,
          text: ({ subject }) => subject,
        },
        {
          key: 'status',
          title: say.columns.status,
          cell: ({ status, priority }) => (
            <span class="row">
              <Badge tone={TICKET_TONES[status]}>{say.statuses[status]}</Badge>
              {priority && <Badge>{say.priority}</Badge>}
            </span>
          ),
          text: ({ status }) => status,
        },
        {
          key: 'from',
          title: say.columns.from,
          cell: ({ user_id, email }) => <Link to={`/operator/accounts/${user_id}`}>{email}</Link>,
          text: ({ email }) => email,
        },
        {
          key: 'messages',
          title: say.columns.messages,
          isNumber: true,
          cell: ({ message_count }) => count(message_count),
          text: ({ message_count }) => message_count,
        },
        {
          key: 'last',
          title: say.columns.waits,
          cell: ({ updated_at }) => <Time at={updated_at} />,
          text: ({ updated_at }) => updated_at,
        },
        {
          key: 'opened',
          title: say.columns.opened,
          cell: ({ created_at }) => <Time at={created_at} />,
          text: ({ created_at }) => created_at,
        },
      ]}
    />
  );
}

// One ticket: read, answer, close.

import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { useLoad } from '../../../api/use-load.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link } from '../../../app/place.tsx';
import { Arrow } from '../../../parts/arrow.tsx';
import { Button } from '../../../parts/button.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { More } from '../../../parts/more.tsx';
import { Badge } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { useEvery10s } from '../fresh.tsx';
import { AT_ONCE } from '../watched-list.tsx';
import { TicketAnswer } from './ticket-answer.tsx';
import { TICKET_TONES } from './tickets-page.tsx';

const say = operator.tickets;

export default function TicketPage({ id = '' }: { readonly id?: string }) {
  const path = { id: Number(id) };
  const loaded = useLoad(`operator ticket ${id}`, (signal) =>
    dataOf(admin.GET('/admin/tickets/{id}', { params: { path }, signal })),
  );
  const messages = usePages(`operator ticket messages ${id}`, (cursor, signal) =>
    pageOf(
      admin.GET('/admin/tickets/{id}/messages', {
        params: { path, query: { sort: '-id', limit: AT_ONCE, cursor } },
        signal,
      }),
    ),
  );
  const isFirstPage = (messages.loaded.data?.items.length ?? 0) <= AT_ONCE;
  const lookAgain = () => {
    void loaded.reload();
    void messages.loaded.reload();
  };
  useEvery10s(lookAgain, isFirstPage);
  const setStatus = useAction(async (status: 'open' | 'closed') => {
    loaded.set(await dataOf(admin.PATCH('/admin/tickets/{id}', { params: { path }, body: { status } })));
  });
  return (
    <div class="ope-narrow stack">
      <p>
        <Link to="/operator/tickets">
          <Arrow isBack /> {words.frame.operatorPages.tickets}
        </Link>
      </p>
      <Loading of={loaded}>
        {(ticket) => (
          <>
            <div class="head">
              <h1>{ticket.subject}</h1>
              <Badge tone={TICKET_TONES[ticket.status]}>{say.statuses[ticket.status]}</Badge>
              {ticket.priority && <Badge>{say.priority}</Badge>}
              <div class="actions">
                <Button
                  isBusy={setStatus.isBusy}
                  onClick={() => void setStatus.run(ticket.status === 'closed' ? 'open' : 'closed')}
                >
                  {ticket.status === 'closed' ? say.reopen : say.close}
                </Button>
              </div>
            </div>
            <p>
              <Link to={`/operator/accounts/${ticket.user_id}`}>{ticket.email}</Link>
            </p>
            <Failure error={setStatus.error} />
          </>
        )}
      </Loading>
      <Loading of={messages.loaded}>
        {({ items }) => (
          <>
            <More of={messages} label={say.earlier} />
            <ol class="plain stack">
              {[...items].reverse().map((message) => (
                <li key={message.id} class={`card ope-message-of ${message.author}`}>
                  <p class="quiet row spread">
                    <strong>{say.authors[message.author]}</strong>
                    <Time at={message.created_at} />
                  </p>
                  <p class="ope-message">{message.message}</p>
                </li>
              ))}
            </ol>
          </>
        )}
      </Loading>
      <TicketAnswer id={path.id} onSent={lookAgain} />
    </div>
  );
}

// One ticket with its messages. The person can answer, close and reopen it.

import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { type Pages, pageOf, usePages } from '../../api/use-pages.ts';
import { useDraft } from '../../app/drafts.ts';
import { Link } from '../../app/place.tsx';
import { Arrow } from '../../parts/arrow.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Time } from '../../parts/time.tsx';
import { tickets } from '../../words/tickets.ts';
import { words } from '../../words/words.ts';
import { TicketStatus } from './ticket-status.tsx';

/** Loaded newest first; earlier messages of a long ticket are behind a button. */
const AT_ONCE = 50;
const text = tickets;

export function OneTicket({ id = '' }: { readonly id?: string }) {
  const path = { id: Number(id) };
  const loaded = useLoad(`ticket ${id}`, (signal) =>
    dataOf(api.GET('/tickets/{id}', { params: { path }, signal })),
  );
  const messages = usePages(`ticket messages ${id}`, (cursor, signal) =>
    pageOf(
      api.GET('/tickets/{id}/messages', {
        params: { path, query: { sort: '-id', limit: AT_ONCE, ...(cursor && { cursor }) } },
        signal,
      }),
    ),
  );
  const setStatus = useAction(async (status: 'open' | 'closed') => {
    const changed = await dataOf(api.PATCH('/tickets/{id}', { params: { path }, body: { status } }));
    if (loaded.data !== undefined) loaded.set({ ...loaded.data, ...changed });
  });
  return (
    <div class="tickets-narrow">
      <p>
        <Link to="/tickets">
          <Arrow isBack /> {words.frame.tickets}
        </Link>
      </p>
      <Loading of={loaded}>
        {(ticket) => (
          <>
            <div class="head">
              <h1>{ticket.subject}</h1>
              <TicketStatus status={ticket.status} />
              <div class="actions">
                <Button
                  isBusy={setStatus.isBusy}
                  onClick={() => void setStatus.run(ticket.status === 'closed' ? 'open' : 'closed')}
                >
                  {ticket.status === 'closed' ? text.reopen : text.close}
                </Button>
              </div>
            </div>
            <Failure error={setStatus.error} />
            <Messages pages={messages} />
            <Answer
              id={ticket.id}
              onSent={() => {
                void messages.loaded.reload();
                void loaded.reload();
              }}
            />
          </>
        )}
      </Loading>
    </div>
  );
}

function Messages({ pages }: { readonly pages: Pages<Schemas['TicketMessage']> }) {
  return (
    <Loading of={pages.loaded}>
      {({ items }) => (
        <>
          <More of={pages} label={text.earlier} />
          <ol class="plain stack">
            {[...items].reverse().map((message) => (
              <li key={message.id} class={`card tickets-message ${message.author}`}>
                <p class="quiet row spread">
                  <strong>{text.authors[message.author]}</strong>
                  <Time at={message.created_at} />
                </p>
                <p class="tickets-text">{message.message}</p>
              </li>
            ))}
          </ol>
        </>
      )}
    </Loading>
  );
}

interface AnswerProps {
  readonly id: number;
  readonly onSent: () => void;
}

function Answer({ id, onSent }: AnswerProps) {
  const [message, setMessage, dropMessage] = useDraft(`ticket ${id}`, '');
  const send = useAction(async () => {
    const params = { path: { id }, ...idempotent() };
    await api.POST('/tickets/{id}/messages', { params, body: { message } });
    dropMessage();
    onSent();
  });
  return (
    <form
      class="card stack tickets-answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send.run();
      }}
    >
      <TextArea
        label={text.answer}
        maxLength={10_000}
        rows={5}
        required
        value={message}
        problem={send.error?.of('message')}
        onInput={(event) => setMessage(event.currentTarget.value)}
      />
      <Failure error={send.error} shownFields={['message']} />
      <Button type="submit" kind="main" isBusy={send.isBusy}>
        {text.send}
      </Button>
    </form>
  );
}

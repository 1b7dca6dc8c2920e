// One ticket with its messages; the person answers, closes it, or opens it again.

import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { useDraft } from '../../app/drafts.ts';
import { Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/words.ts';
import { TicketStatus } from './ticket-status.tsx';

const text = words.tickets;

export function OneTicket({ id = '' }: { readonly id?: string }) {
  const path = { id: Number(id) };
  const loaded = useLoad(`ticket ${id}`, (signal) =>
    dataOf(api.GET('/tickets/{id}', { params: { path }, signal })),
  );
  const setStatus = useAction(async (status: 'open' | 'closed') => {
    const changed = await dataOf(api.PATCH('/tickets/{id}', { params: { path }, body: { status } }));
    if (loaded.data !== undefined) loaded.set({ ...loaded.data, ...changed });
  });
  return (
    <div class="tickets-narrow">
      <p>
        <Link to="/tickets">← {words.frame.tickets}</Link>
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
            <ol class="plain stack">
              {ticket.messages.map((message) => (
                <li key={message.id} class={`card tickets-message ${message.author}`}>
                  <p class="quiet row spread">
                    <strong>{text.authors[message.author]}</strong>
                    <Time at={message.created_at} />
                  </p>
                  <p class="tickets-text">{message.message}</p>
                </li>
              ))}
            </ol>
            <Answer ticket={ticket} onSent={loaded.set} />
          </>
        )}
      </Loading>
    </div>
  );
}

interface AnswerProps {
  readonly ticket: Schemas['WholeTicket'];
  readonly onSent: (ticket: Schemas['WholeTicket']) => void;
}

function Answer({ ticket, onSent }: AnswerProps) {
  const { id } = ticket;
  const [message, setMessage, dropMessage] = useDraft(`ticket ${id}`, '');
  const send = useAction(async () => {
    const params = { path: { id }, ...idempotent() };
    onSent(await dataOf(api.POST('/tickets/{id}/messages', { params, body: { message } })));
    dropMessage();
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

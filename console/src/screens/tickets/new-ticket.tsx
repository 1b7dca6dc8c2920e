// Opens a ticket.

import { api, dataOf, idempotent } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Link, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { tickets } from '../../words/tickets.ts';
import { words } from '../../words/words.ts';

const NOTHING = { subject: '', message: '' };
const text = tickets;

export function NewTicket() {
  const { go } = usePlace();
  const [wish, setWish, dropWish] = useDraft('new-ticket', NOTHING);
  const open = useAction(async () => {
    const { id } = await dataOf(api.POST('/tickets', { params: idempotent(), body: wish }));
    dropWish();
    go(`/tickets/${id}`);
  });
  return (
    <div class="tickets-narrow">
      <h1>{text.new}</h1>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void open.run();
        }}
      >
        <TextField
          label={text.subject}
          maxLength={200}
          required
          value={wish.subject}
          problem={open.error?.of('subject')}
          onInput={(event) => setWish({ ...wish, subject: event.currentTarget.value })}
        />
        <TextArea
          label={text.message}
          hint={text.messageHint}
          maxLength={10_000}
          rows={10}
          required
          value={wish.message}
          problem={open.error?.of('message')}
          onInput={(event) => setWish({ ...wish, message: event.currentTarget.value })}
        />
        <Failure error={open.error} shownFields={['subject', 'message']} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={open.isBusy}>
            {text.send}
          </Button>
          <Link class="button" to="/tickets">
            {words.common.cancel}
          </Link>
        </div>
      </form>
    </div>
  );
}

// A form for an answer to a ticket. Its text survives a reload.

import { admin, idempotent } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { useDraft } from '../../../app/drafts.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { TextArea } from '../../../parts/field.tsx';
import { operator } from '../../../words/operator.ts';

export function TicketAnswer({ id, onSent }: { readonly id: number; readonly onSent: () => void }) {
  const say = operator.tickets;
  const [message, setMessage, drop] = useDraft(`operator ticket ${id}`, '');
  const send = useAction(async () => {
    await admin.POST('/admin/tickets/{id}/messages', {
      params: { path: { id }, ...idempotent() },
      body: { message },
    });
    drop();
    toast(say.answered);
    onSent();
  });
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send.run();
      }}
    >
      <TextArea
        label={say.answer}
        hint={say.answerHint}
        maxLength={10_000}
        rows={6}
        required
        value={message}
        problem={send.error?.of('message')}
        onInput={(event) => setMessage(event.currentTarget.value)}
      />
      <Failure error={send.error} shownFields={['message']} />
      <Button type="submit" kind="main" isBusy={send.isBusy}>
        {say.send}
      </Button>
    </form>
  );
}

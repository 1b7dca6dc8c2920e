// Creates a client.

import { dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { reseller } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { resell } from './reseller-session.ts';

const NOTHING = { email: '', name: '' };
const text = reseller.clients;

interface NewClientProps {
  readonly onClose: () => void;
  readonly onMade: (client: Schemas['Client']) => void;
}

export function NewClient({ onClose, onMade }: NewClientProps) {
  const [wish, setWish, dropWish] = useDraft('new-client', NOTHING);
  const make = useAction(async () => {
    const name = wish.name.trim();
    const body = { email: wish.email.trim(), ...(name !== '' && { name }) };
    const client = await dataOf(resell.POST('/reseller/v1/clients', { params: idempotent(), body }));
    dropWish();
    onMade(client);
  });
  return (
    <Dialog title={text.make} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void make.run();
        }}
      >
        <TextField
          label={words.signIn.email}
          hint={text.emailHint}
          type="email"
          autocomplete="off"
          maxLength={254}
          required
          value={wish.email}
          problem={make.error?.of('email')}
          onInput={(event) => setWish({ ...wish, email: event.currentTarget.value })}
        />
        <TextField
          label={words.signIn.name}
          autocomplete="off"
          maxLength={200}
          value={wish.name}
          problem={make.error?.of('name')}
          onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
        />
        <Failure error={make.error} shownFields={['email', 'name']} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={make.isBusy}>
            {text.make}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

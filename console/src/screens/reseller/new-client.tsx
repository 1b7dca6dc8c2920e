// Creates a client.

import { dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { FormDialog } from '../../parts/dialog.tsx';
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
    <FormDialog
      title={text.make}
      action={text.make}
      isBusy={make.isBusy}
      error={make.error}
      shownFields={['email', 'name']}
      onSubmit={() => void make.run()}
      onClose={onClose}
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
    </FormDialog>
  );
}

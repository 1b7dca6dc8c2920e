// Creates an account and opens its page, where the operator creates a link for its owner.

import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { useDraft } from '../../../app/drafts.ts';
import { usePlace } from '../../../app/place.tsx';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { CheckField, TextField } from '../../../parts/field.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { PlanField } from '../plan-field.tsx';

const NOTHING = { email: '', name: '', plan: 'free', admin: false };
const FIELDS = ['email', 'name', 'plan'];

export function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const { go } = usePlace();
  const say = operator.accounts;
  const [wish, setWish, dropWish] = useDraft('operator new-account', NOTHING);
  const make = useAction(async () => {
    const { email, name, plan, admin: isAdmin } = wish;
    const { id } = await dataOf(
      admin.POST('/admin/accounts', {
        body: {
          email: email.trim(),
          ...(name.trim() !== '' && { name: name.trim() }),
          plan: plan === '' ? null : plan,
          admin: isAdmin,
        },
      }),
    );
    dropWish();
    toast(say.made(email));
    onClose();
    go(`/operator/accounts/${id}`);
  });
  return (
    <Dialog title={say.make} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void make.run();
        }}
      >
        <p class="quiet">{say.makeText}</p>
        <TextField
          label={say.fields.email}
          type="email"
          autocomplete="off"
          required
          value={wish.email}
          problem={make.error?.of('email')}
          onInput={(event) => setWish({ ...wish, email: event.currentTarget.value })}
        />
        <TextField
          label={say.fields.name}
          autocomplete="off"
          value={wish.name}
          problem={make.error?.of('name')}
          onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
        />
        <PlanField
          label={say.fields.plan}
          value={wish.plan}
          problem={make.error?.of('plan')}
          onChoose={(plan) => setWish({ ...wish, plan })}
        />
        <CheckField
          label={say.fields.admin}
          checked={wish.admin}
          onChange={(event) => setWish({ ...wish, admin: event.currentTarget.checked })}
        />
        <Failure error={make.error} shownFields={FIELDS} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={make.isBusy}>
            {say.make}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

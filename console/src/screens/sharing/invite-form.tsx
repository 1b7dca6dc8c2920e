// Invites a person by email, and shows the link once.

import { useState } from 'preact/hooks';
import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { InviteLink } from './invite-link.tsx';
import { GIVEN_ROLES } from './role-select.tsx';

type Role = Schemas['NewInvite']['role'];

export function InviteForm({ onInvited }: { readonly onInvited: () => void }) {
  const { name } = useDomain();
  const [wish, setWish, dropWish] = useDraft<{ email: string; role: Role }>(`invite ${name}`, {
    email: '',
    role: 'editor',
  });
  const [made, setMade] = useState<Schemas['Invite']>();
  const invite = useAction(async () => {
    const params = { path: { domain: name }, ...idempotent() };
    setMade(await dataOf(api.POST('/domains/{domain}/invites', { params, body: wish })));
    dropWish();
    onInvited();
  });
  return (
    <>
      <form
        class="card sharing-invite"
        onSubmit={(event) => {
          event.preventDefault();
          void invite.run();
        }}
      >
        <TextField
          label={words.signIn.email}
          type="email"
          autocomplete="off"
          required
          value={wish.email}
          problem={invite.error?.of('email')}
          onInput={(event) => setWish({ ...wish, email: event.currentTarget.value })}
        />
        <SelectField
          label={words.sharing.role}
          value={wish.role}
          onChange={(event) => setWish({ ...wish, role: event.currentTarget.value as Role })}
          choices={GIVEN_ROLES.map((value) => ({ value, label: domains.roles[value] }))}
        />
        <Button type="submit" kind="main" isBusy={invite.isBusy}>
          {words.sharing.invite}
        </Button>
      </form>
      <Failure error={invite.error} shownFields={['email']} />
      {made !== undefined && <InviteLink invite={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

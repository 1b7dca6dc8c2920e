// Confirms a new email address with the link that was mailed to it. Opening the link alone changes nothing.

import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { session } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { account } from '../../words/account.ts';
import { words } from '../../words/words.ts';

interface ConfirmEmailProps {
  readonly token: string;
  readonly onDone: () => void;
}

export default function ConfirmEmail({ token, onDone }: ConfirmEmailProps) {
  const confirm = useAction(async () => {
    const person = await dataOf(api.POST('/users/me/email/confirm', { body: { token } }));
    session.value = { kind: 'signed-in', person };
    toast(words.signIn.emailConfirmed);
    onDone();
  });
  return (
    <div class="card stack">
      <h1>{words.signIn.emailConfirm}</h1>
      <p>{account.emailConfirmText}</p>
      <Failure error={confirm.error} />
      <div class="row">
        <Button kind="main" isBusy={confirm.isBusy} onClick={() => void confirm.run()}>
          {words.signIn.emailConfirm}
        </Button>
        <Button onClick={onDone}>{words.signIn.later}</Button>
      </div>
    </div>
  );
}

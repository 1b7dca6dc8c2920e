// Requests a password reset link. The response is the same for every address.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

export function ForgotPassword({ onBack }: { readonly onBack: (told?: string) => void }) {
  const [email, setEmail] = useState('');
  const ask = useAction(async () => {
    await api.POST('/auth/password/forgot', { body: { email } });
    onBack(words.signIn.forgotSent);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void ask.run();
      }}
    >
      <h1>{words.signIn.forgotTitle}</h1>
      <p>{words.signIn.forgotText}</p>
      <TextField
        label={words.signIn.email}
        type="email"
        autocomplete="username"
        required
        value={email}
        onInput={(event) => setEmail(event.currentTarget.value)}
      />
      <Failure error={ask.error} />
      <div class="row spread">
        <Button type="submit" kind="main" isBusy={ask.isBusy}>
          {words.signIn.forgotSend}
        </Button>
        <Button kind="bare" onClick={() => onBack()}>
          {words.signIn.back}
        </Button>
      </div>
    </form>
  );
}

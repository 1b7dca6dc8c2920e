// Requests an account, if the operator allows registration. The mailed link leads to the choice of a password.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

export function Register({ onBack }: { readonly onBack: (told?: string) => void }) {
  const [email, setEmail] = useState('');
  const register = useAction(async () => {
    await api.POST('/auth/register', { body: { email } });
    onBack(words.signIn.registerSent);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void register.run();
      }}
    >
      <h1>{words.signIn.register}</h1>
      <p>{words.signIn.registerText}</p>
      <TextField
        label={words.signIn.email}
        type="email"
        autocomplete="username"
        required
        value={email}
        problem={register.error?.of('email')}
        onInput={(event) => setEmail(event.currentTarget.value)}
      />
      <Failure error={register.error} shownFields={['email']} />
      <div class="row spread">
        <Button type="submit" kind="main" isBusy={register.isBusy}>
          {words.signIn.registerSend}
        </Button>
        <Button kind="bare" onClick={() => onBack()}>
          {words.signIn.back}
        </Button>
      </div>
    </form>
  );
}

// Sets a new password with the token of a mailed link.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

export function NewPassword({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const [password, setPassword] = useState('');
  const reset = useAction(async () => {
    await api.POST('/auth/password/reset', { body: { token, password } });
    onDone();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void reset.run();
      }}
    >
      <h1>{words.signIn.forgotTitle}</h1>
      <TextField
        label={words.signIn.newPassword}
        hint={words.signIn.newPasswordHint}
        type="password"
        autocomplete="new-password"
        minLength={10}
        required
        value={password}
        problem={reset.error?.of('password')}
        onInput={(event) => setPassword(event.currentTarget.value)}
      />
      <Failure error={reset.error} shownFields={['password']} />
      <Button type="submit" kind="main" isBusy={reset.isBusy}>
        {words.signIn.setPassword}
      </Button>
    </form>
  );
}

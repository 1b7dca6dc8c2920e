// Sets a password with the token of a mailed link: a reset, or the first password of a new account.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

interface NewPasswordProps {
  readonly kind: 'reset' | 'register';
  readonly token: string;
  readonly onDone: () => void;
}

export function NewPassword({ kind, token, onDone }: NewPasswordProps) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isFirst = kind === 'register';
  const set = useAction(async () => {
    if (isFirst)
      await api.POST('/auth/register', { body: { token, password, ...(name !== '' && { name }) } });
    else await api.POST('/auth/password/reset', { body: { token, password } });
    onDone();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void set.run();
      }}
    >
      <h1>{isFirst ? words.signIn.register : words.signIn.forgotTitle}</h1>
      {isFirst && (
        <TextField
          label={words.signIn.name}
          autocomplete="name"
          value={name}
          problem={set.error?.of('name')}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      )}
      <TextField
        label={words.signIn.newPassword}
        hint={words.signIn.newPasswordHint}
        type="password"
        autocomplete="new-password"
        minLength={10}
        required
        value={password}
        problem={set.error?.of('password')}
        onInput={(event) => setPassword(event.currentTarget.value)}
      />
      <Failure error={set.error} shownFields={['name', 'password']} />
      <Button type="submit" kind="main" isBusy={set.isBusy}>
        {words.signIn.setPassword}
      </Button>
    </form>
  );
}

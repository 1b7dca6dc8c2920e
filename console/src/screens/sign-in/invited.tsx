// Asks the person who opened an invite to sign in or to register with the invited address, then shows the invite.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { loadSession } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';
import { PasswordSignIn } from './password-sign-in.tsx';

interface InvitedProps {
  readonly token: string;
  readonly onBack: () => void;
}

export function Invited({ token, onBack }: InvitedProps) {
  const [isNew, setNew] = useState(false);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const text = words.sharing.accept;
  const begin = useAction(async () => {
    const invite = token;
    await api.POST('/auth/register', {
      body: { invite, password, bearer: false, ...(name !== '' && { name }) },
    });
    await loadSession();
  });
  if (!isNew) {
    return (
      <div class="stack">
        <p>{text.signInFirst}</p>
        <PasswordSignIn onForgot={onBack} />
        <Button onClick={() => setNew(true)}>{text.register}</Button>
      </div>
    );
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void begin.run();
      }}
    >
      <h1>{words.signIn.register}</h1>
      <p>{text.registerText}</p>
      <TextField
        label={words.signIn.name}
        autocomplete="name"
        maxLength={200}
        value={name}
        problem={begin.error?.of('name')}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <TextField
        label={words.signIn.newPassword}
        hint={words.signIn.newPasswordHint}
        type="password"
        autocomplete="new-password"
        minLength={10}
        maxLength={256}
        required
        value={password}
        problem={begin.error?.of('password')}
        onInput={(event) => setPassword(event.currentTarget.value)}
      />
      <Failure error={begin.error} shownFields={['name', 'password']} />
      <div class="row spread">
        <Button type="submit" kind="main" isBusy={begin.isBusy}>
          {words.signIn.register}
        </Button>
        <Button kind="bare" onClick={() => setNew(false)}>
          {words.signIn.back}
        </Button>
      </div>
    </form>
  );
}

// Makes an account, where the operator allows that. It begins with the link that is mailed.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

export function Register({ onBack }: { readonly onBack: (told?: string) => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const register = useAction(async () => {
    await api.POST('/auth/register', { body: { email, password, ...(name !== '' && { name }) } });
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
      <TextField
        label={words.signIn.name}
        autocomplete="name"
        value={name}
        problem={register.error?.of('name')}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <TextField
        label={words.signIn.newPassword}
        hint={words.signIn.newPasswordHint}
        type="password"
        autocomplete="new-password"
        minLength={10}
        required
        value={password}
        problem={register.error?.of('password')}
        onInput={(event) => setPassword(event.currentTarget.value)}
      />
      <Failure error={register.error} shownFields={['email', 'name', 'password']} />
      <div class="row spread">
        <Button type="submit" kind="main" isBusy={register.isBusy}>
          {words.signIn.register}
        </Button>
        <Button kind="bare" onClick={() => onBack()}>
          {words.signIn.back}
        </Button>
      </div>
    </form>
  );
}

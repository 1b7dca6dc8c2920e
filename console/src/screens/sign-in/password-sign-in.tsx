// Signs in with email and password, and with the code of the second step if it is enabled.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { loadSession } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

interface PasswordSignInProps {
  readonly onForgot: () => void;
  readonly onRegister?: () => void;
}

export function PasswordSignIn({ onForgot, onRegister }: PasswordSignInProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [otp, setOtp] = useState('');
  const signIn = useAction(async () => {
    await api.POST('/auth/login', { body: { email, password, bearer: false, ...(otp !== '' && { otp }) } });
    await loadSession();
  });
  const [wantsCode, setWantsCode] = useState(false);
  const isAsked = signIn.error?.code === 'otp_required';
  if (isAsked && !wantsCode) setWantsCode(true);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn.run();
      }}
    >
      <h1>{words.signIn.title}</h1>
      <TextField
        label={words.signIn.email}
        type="email"
        name="email"
        autocomplete="username"
        required
        value={email}
        onInput={(event) => setEmail(event.currentTarget.value)}
      />
      <TextField
        label={words.signIn.password}
        type="password"
        name="password"
        autocomplete="current-password"
        required
        value={password}
        onInput={(event) => setPassword(event.currentTarget.value)}
      />
      {wantsCode && (
        <TextField
          label={words.signIn.code}
          hint={words.signIn.codeHint}
          name="otp"
          autocomplete="one-time-code"
          inputMode="numeric"
          autofocus
          required
          value={otp}
          onInput={(event) => setOtp(event.currentTarget.value)}
        />
      )}
      {!(isAsked && otp === '') && <Failure error={signIn.error} />}
      <div class="row spread">
        <Button type="submit" kind="main" isBusy={signIn.isBusy}>
          {words.signIn.signIn}
        </Button>
        <Button kind="bare" onClick={onForgot}>
          {words.signIn.forgot}
        </Button>
      </div>
      {onRegister !== undefined && (
        <Button kind="bare" onClick={onRegister}>
          {words.signIn.register}
        </Button>
      )}
    </form>
  );
}

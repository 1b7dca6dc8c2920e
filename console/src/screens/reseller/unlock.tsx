// Asks for the password before the reseller's pages are shown.

import { useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { Link } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { reseller } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { unlock } from './reseller-session.ts';

const text = reseller.unlock;

export function Unlock() {
  const { email, otp: hasOtp, password_set: hasPassword } = person();
  const [password, setPassword] = useState('');
  const [otp, setOtp] = useState('');
  const open = useAction(() => unlock(email, password, hasOtp ? otp.trim() : undefined));
  if (!hasPassword)
    return (
      <Note tone="warn">
        <p>{text.noPassword}</p>
        <Link to="/account" class="button">
          {words.signIn.setPassword}
        </Link>
      </Note>
    );
  return (
    <section class="card reseller-narrow" aria-labelledby="reseller-unlock">
      <h2 id="reseller-unlock">{words.password.again}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void open.run();
        }}
      >
        <p>{text.why}</p>
        <input
          class="only-read"
          type="email"
          autocomplete="username"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
          value={email}
        />
        <TextField
          label={words.password.password}
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        {hasOtp && (
          <TextField
            label={words.signIn.code}
            hint={words.signIn.codeHint}
            inputMode="numeric"
            autocomplete="one-time-code"
            maxLength={40}
            required
            value={otp}
            onInput={(event) => setOtp(event.currentTarget.value)}
          />
        )}
        <Failure error={open.error} />
        <Button type="submit" kind="main" isBusy={open.isBusy}>
          {words.common.goOn}
        </Button>
      </form>
    </section>
  );
}

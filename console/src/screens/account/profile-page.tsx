// Name, email and password of the account.

import { useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { loadSession, person, session } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { Badge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { words } from '../../words/words.ts';
import { IdentityForm } from './identity-form.tsx';

export function ProfilePage() {
  const who = person();
  const roles = [who.admin && account.admin, who.reseller && account.reseller].filter(Boolean);
  return (
    <div class="cards">
      <section class="card stack" aria-labelledby="account-about">
        <h2 id="account-about">{account.about}</h2>
        <dl class="facts">
          <dt>{words.signIn.email}</dt>
          <dd>
            {who.email}{' '}
            <Badge tone={who.email_confirmed ? 'good' : 'warn'}>
              {who.email_confirmed ? account.confirmed : account.notConfirmed}
            </Badge>
          </dd>
          <dt>{account.number}</dt>
          <dd>{who.user_id}</dd>
          <dt>{account.since}</dt>
          <dd>
            <Time at={who.created_at} />
          </dd>
          {roles.length > 0 && (
            <>
              <dt>{account.rights}</dt>
              <dd>{words.figures.listed(roles)}</dd>
            </>
          )}
        </dl>
        <NameForm />
      </section>
      <PasswordForm />
      <EmailForm />
      <IdentityForm />
    </div>
  );
}

function NameForm() {
  const [name, setName] = useState(person().name ?? '');
  const save = useAction(async () => {
    const changed = await dataOf(api.PUT('/users/me', { body: { name } }));
    session.value = { kind: 'signed-in', person: changed };
    toast(account.saved);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <TextField
        label={words.signIn.name}
        autocomplete="name"
        maxLength={200}
        required
        value={name}
        problem={save.error?.of('name')}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Failure error={save.error} shownFields={['name']} />
      <Button type="submit" isBusy={save.isBusy} disabled={name === (person().name ?? '')}>
        {words.common.save}
      </Button>
    </form>
  );
}

function PasswordForm() {
  const { password_set: isSet } = person();
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const isDifferent = again !== '' && again !== password;
  const save = useAction(async () => {
    await api.PUT('/users/me/password', { body: { password } });
    setPassword('');
    setAgain('');
    toast(account.passwordSet);
    await loadSession();
  });
  return (
    <section class="card" aria-labelledby="account-password">
      <h2 id="account-password">{isSet ? account.password : words.signIn.choosePassword}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isDifferent) void save.run();
        }}
      >
        <p>{isSet ? account.passwordText : words.signIn.choosePasswordText}</p>
        <input
          class="only-read"
          type="email"
          autocomplete="username"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
          value={person().email}
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
          problem={save.error?.of('password')}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <TextField
          label={account.again}
          type="password"
          autocomplete="new-password"
          required
          value={again}
          problem={isDifferent ? account.different : undefined}
          onInput={(event) => setAgain(event.currentTarget.value)}
        />
        <Failure error={save.error} shownFields={['password']} />
        <Button type="submit" kind="main" isBusy={save.isBusy} disabled={again === '' || isDifferent}>
          {words.signIn.setPassword}
        </Button>
      </form>
    </section>
  );
}

function EmailForm() {
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string>();
  const ask = useAction(async () => {
    await api.PUT('/users/me/email', { body: { email } });
    setSentTo(email);
    setEmail('');
  });
  return (
    <section class="card" aria-labelledby="account-email">
      <h2 id="account-email">{account.otherEmail}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void ask.run();
        }}
      >
        <p>{account.otherEmailText}</p>
        {sentTo !== undefined && <Note tone="good">{account.emailSent(sentTo)}</Note>}
        <TextField
          label={account.newEmail}
          type="email"
          autocomplete="email"
          required
          value={email}
          problem={ask.error?.of('email')}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
        <Failure error={ask.error} shownFields={['email']} />
        <Button type="submit" isBusy={ask.isBusy}>
          {words.signIn.forgotSend}
        </Button>
      </form>
    </section>
  );
}

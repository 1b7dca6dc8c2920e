// The page to which the identity provider returns: finishes what was begun, then opens the page where it was begun.

import { useEffect, useState } from 'preact/hooks';
import { asApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { BASE } from '../../app/base.ts';
import { PasswordQuestion } from '../../app/confirm-password.tsx';
import { RETURN_PATH, reportConfirmed, takeKept } from '../../app/identity.ts';
import { readParameters } from '../../app/returned.ts';
import { loadSession, session } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';

const text = words.signIn;

export default function IdentityReturn() {
  const [returned] = useState(takeReturned);
  const [otp, setOtp] = useState('');
  const [wantsCode, setWantsCode] = useState(false);
  const [isConfirmed, setConfirmed] = useState(false);
  const finish = useAction(async () => {
    const { parameters, purpose, page } = returned;
    if (parameters === undefined) return;
    if (purpose === 'sign-in') {
      const body = { ...parameters, ...(otp !== '' && { otp: otp.trim() }) };
      await api.POST('/auth/oidc/finish', { body }).catch((thrown: unknown) => {
        if (asApiError(thrown).code === 'otp_required') setWantsCode(true);
        throw thrown;
      });
    } else {
      await loadSession();
      if (purpose === 'link') await api.POST('/users/me/identities', { body: parameters });
      else await api.POST('/auth/oidc/confirm', { body: parameters });
    }
    if (purpose !== 'confirm') return location.replace(page);
    reportConfirmed();
    setConfirmed(true);
    close(); // works only in a window that the console opened
  });
  useEffect(() => {
    void finish.run();
  }, []);
  if (isConfirmed) return <Alone note={text.identityConfirmed} />;
  if (returned.parameters === undefined) return <Alone note={text.identityRefused} />;
  const isAsked = finish.error?.code === 'otp_required' && otp === '';
  return (
    <main class="alone stack">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void finish.run();
        }}
      >
        <h1>{text.title}</h1>
        {!wantsCode && finish.error === undefined && <p role="status">{text.identityWorking}</p>}
        {wantsCode && (
          <TextField
            label={text.code}
            hint={text.codeHint}
            name="otp"
            autocomplete="one-time-code"
            inputMode="numeric"
            autofocus
            required
            value={otp}
            onInput={(event) => setOtp(event.currentTarget.value)}
          />
        )}
        {!isAsked && <Failure error={finish.error} />}
        {wantsCode && (
          <Button type="submit" kind="main" isBusy={finish.isBusy}>
            {text.signIn}
          </Button>
        )}
        {finish.error !== undefined && <a href={`${BASE}/`}>{text.identityBack}</a>}
      </form>
      {session.value.kind === 'signed-in' && <PasswordQuestion />}
    </main>
  );
}

/** The parameters are removed from the address, so that they do not stay in the history. */
function takeReturned() {
  const { search } = location;
  history.replaceState(null, '', RETURN_PATH);
  return { parameters: readParameters(search), ...takeKept() };
}

function Alone({ note }: { readonly note: string }) {
  return (
    <main class="alone stack">
      <div role="status">
        <Note tone={note === text.identityConfirmed ? 'good' : 'warn'}>{note}</Note>
      </div>
      <p>
        <a href={`${BASE}/`}>{text.identityBack}</a>
      </p>
    </main>
  );
}

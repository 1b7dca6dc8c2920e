// Some writes require the password again. The call waits until it is confirmed, then continues.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api, dataOf } from '../api/client.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { TextField } from '../parts/field.tsx';
import { words } from '../words/words.ts';
import { confirmInWindow, onConfirmed } from './identity.ts';
import { person } from './session.ts';

const asked = signal<((isConfirmed: boolean) => void) | undefined>(undefined);
let waiting: Promise<boolean> | undefined;

/** Concurrent calls share one dialog. */
export function askForPassword(): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    asked.value = (isConfirmed) => {
      asked.value = undefined;
      waiting = undefined;
      resolve(isConfirmed);
    };
  });
  return waiting;
}

/** Rejects the waiting calls, because the dialog is no longer shown. */
export function endQuestion(): void {
  asked.value?.(false);
}

export function PasswordQuestion() {
  const answer = asked.value;
  return answer === undefined ? null : <Question answer={answer} />;
}

function Question({ answer }: { readonly answer: (isConfirmed: boolean) => void }) {
  const [password, setPassword] = useState('');
  const confirm = useAction(async () => {
    await api.POST('/auth/confirm', { body: { password } });
    answer(true);
  });
  useEffect(() => onConfirmed(() => answer(true)), [answer]);
  const { password_set: isSet, identity: hasIdentity } = person();
  return (
    <Dialog title={isSet ? words.password.again : words.password.none} onClose={() => answer(false)}>
      <div class="stack">
        <p>{words.password.why}</p>
        {isSet && (
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              void confirm.run();
            }}
          >
            <TextField
              label={words.password.password}
              type="password"
              autocomplete="current-password"
              required
              value={password}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
            <Failure error={confirm.error} />
            <Button type="submit" kind="main" isBusy={confirm.isBusy}>
              {words.common.goOn}
            </Button>
          </form>
        )}
        {hasIdentity && <ByIdentity />}
        {!isSet && <ByNewPassword />}
      </div>
    </Dialog>
  );
}

/** Renders nothing unless the service has an identity provider that can authenticate a person again. */
function ByIdentity() {
  const offer = useLoad('oidc', (signal) => dataOf(api.GET('/auth/oidc', { signal }))).data;
  const confirm = useAction(confirmInWindow);
  if (offer?.confirms !== true) return null;
  return (
    <>
      <p>{words.password.identityText}</p>
      <Failure error={confirm.error} />
      <Button isBusy={confirm.isBusy} onClick={() => void confirm.run()}>
        {words.password.identity}
      </Button>
    </>
  );
}

/** Shown if the account has no password: an emailed link sets the first one. */
function ByNewPassword() {
  const { email } = person();
  const [isSent, setSent] = useState(false);
  const ask = useAction(async () => {
    await api.POST('/auth/password/forgot', { body: { email } });
    setSent(true);
  });
  return (
    <>
      <p role="status">{isSent ? words.password.linkSent(email) : words.password.noneText}</p>
      <Failure error={ask.error} />
      {!isSent && (
        <Button isBusy={ask.isBusy} onClick={() => void ask.run()}>
          {words.password.sendLink}
        </Button>
      )}
    </>
  );
}

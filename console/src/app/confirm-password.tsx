// Some writes require the password again. The call waits until it is confirmed, then continues.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { TextField } from '../parts/field.tsx';
import { words } from '../words/words.ts';
import { CONFIRM_HREF, onConfirmed } from './identity.ts';
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
  if (!isSet && !hasIdentity) return <NoPassword onClose={() => answer(false)} />;
  return (
    <Dialog title={words.password.again} onClose={() => answer(false)}>
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
        {hasIdentity && (
          <>
            <p>{words.password.identityText}</p>
            <Button kind={isSet ? undefined : 'main'} onClick={() => open(CONFIRM_HREF)}>
              {words.password.identity}
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}

/** Shown if the account has no password and signed in with a link earlier: an emailed link sets the first password. */
function NoPassword({ onClose }: { readonly onClose: () => void }) {
  const { email } = person();
  const [isSent, setSent] = useState(false);
  const ask = useAction(async () => {
    await api.POST('/auth/password/forgot', { body: { email } });
    setSent(true);
  });
  return (
    <Dialog title={words.password.none} onClose={onClose}>
      <div class="stack">
        <p role="status">{isSent ? words.password.linkSent(email) : words.password.noneText}</p>
        <Failure error={ask.error} />
        {isSent ? (
          <Button kind="main" onClick={onClose}>
            {words.common.close}
          </Button>
        ) : (
          <Button kind="main" isBusy={ask.isBusy} onClick={() => void ask.run()}>
            {words.password.sendLink}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

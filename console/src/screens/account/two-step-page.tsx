// Two-step sign-in: setup with a secret and a first code, ten recovery codes, and turning it off.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { loadSession, person } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button, Copyable, CopyButton } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { QrCode } from '../../parts/qr/qr-code.tsx';
import { Badge } from '../../parts/status.tsx';
import { account } from '../../words/account.ts';
import { words } from '../../words/words.ts';
import { inGroups } from './in-groups.ts';

const text = account.twoStep;

export default function TwoStepPage() {
  const isOn = person().otp;
  const [secret, setSecret] = useState<Schemas['OtpSecret']>();
  const [codes, setCodes] = useState<readonly string[]>();
  const begin = useAction(async () => setSecret(await dataOf(api.POST('/auth/otp/enable'))));
  if (codes !== undefined) return <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />;
  return (
    <section class="card stack account-narrow">
      <div class="row">
        <h2>{account.pages['two-step']}</h2>
        <Badge tone={isOn ? 'good' : 'warn'}>{isOn ? text.isOn : text.isOff}</Badge>
      </div>
      <p>{text.what}</p>
      {isOn ? (
        <CodeForm
          label={text.disableCode}
          hint={words.signIn.codeHint}
          action={text.disable}
          isDanger
          act={async (otp) => {
            await api.POST('/auth/otp/disable', { body: { otp } });
            toast(text.disabled);
            await loadSession();
          }}
        />
      ) : secret === undefined ? (
        <>
          <Failure error={begin.error} />
          <Button kind="main" isBusy={begin.isBusy} onClick={() => void begin.run()}>
            {text.begin}
          </Button>
        </>
      ) : (
        <>
          <ol class="account-steps stack">
            <li>
              <p>{text.enter}</p>
              <QrCode text={secret.uri} label={text.picture} />
              <Copyable text={inGroups(secret.secret)} label={text.secret} />
              <p>
                <a href={secret.uri}>{text.openApp}</a>
              </p>
            </li>
            <li>
              <CodeForm
                label={text.firstCode}
                action={text.enable}
                act={async (otp) => {
                  const answer = await dataOf(api.POST('/auth/otp/confirm', { body: { otp } }));
                  setSecret(undefined);
                  setCodes(answer.recovery_codes);
                  await loadSession();
                }}
              />
            </li>
          </ol>
          <Button onClick={() => setSecret(undefined)}>{words.common.cancel}</Button>
        </>
      )}
    </section>
  );
}

interface CodeFormProps {
  readonly label: string;
  readonly hint?: string;
  readonly action: string;
  readonly isDanger?: boolean;
  readonly act: (otp: string) => Promise<void>;
}

function CodeForm({ label, hint, action, isDanger, act }: CodeFormProps) {
  const [otp, setOtp] = useState('');
  const run = useAction(act);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run.run(otp.trim());
      }}
    >
      <TextField
        label={label}
        hint={hint}
        inputMode="numeric"
        autocomplete="one-time-code"
        maxLength={40}
        required
        value={otp}
        problem={run.error?.of('otp')}
        onInput={(event) => setOtp(event.currentTarget.value)}
      />
      <Failure error={run.error} shownFields={['otp']} />
      <Button type="submit" kind={isDanger === true ? 'danger' : 'main'} isBusy={run.isBusy}>
        {action}
      </Button>
    </form>
  );
}

function RecoveryCodes({
  codes,
  onDone,
}: {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}) {
  const [isKept, setKept] = useState(false);
  return (
    <section class="card stack account-narrow">
      <h2>{text.codes}</h2>
      <Note tone="warn">{text.codesText}</Note>
      <ul class="plain account-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <CopyButton text={codes.join('\n')} label={text.codes} />
      <label>
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />{' '}
        {text.kept}
      </label>
      <p>
        <Button kind="main" disabled={!isKept} onClick={onDone}>
          {words.common.goOn}
        </Button>
      </p>
    </section>
  );
}

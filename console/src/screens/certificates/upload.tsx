// Uploads a certificate. The private key is kept only in the form field until it is sent.

import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextArea } from '../../parts/field.tsx';
import { certificates } from '../../words/certificates.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';

const text = certificates;

interface UploadProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function Upload({ onDone, onClose }: UploadProps) {
  const { name } = useDomain();
  const [certificate, setCertificate] = useState('');
  const [privateKey, setPrivateKey] = useState('');
  const send = useAction(async () => {
    await api.POST('/domains/{domain}/ssl', {
      params: { path: { domain: name } },
      body: { certificate, private_key: privateKey },
    });
    onDone();
  });
  return (
    <Dialog title={text.upload} onClose={onClose} isWide>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send.run();
        }}
      >
        <p>{text.uploadText}</p>
        <PemField
          label={text.certificate}
          hint={text.certificateHint}
          value={certificate}
          problem={send.error?.of('certificate')}
          onText={setCertificate}
        />
        <PemField
          label={text.privateKey}
          hint={text.privateKeyHint}
          value={privateKey}
          problem={send.error?.of('private_key')}
          onText={setPrivateKey}
        />
        <Failure error={send.error} shownFields={['certificate', 'private_key']} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={send.isBusy}>
            {text.uploadSend}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface PemFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

function PemField({ label, hint, value, problem, onText }: PemFieldProps) {
  return (
    <div>
      <TextArea
        label={label}
        hint={hint}
        problem={problem}
        class="cert-pem"
        required
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <input
        type="file"
        aria-label={text.file(label)}
        accept=".pem,.crt,.cer,.key,.txt"
        onChange={async (event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) onText(await file.text());
        }}
      />
    </div>
  );
}

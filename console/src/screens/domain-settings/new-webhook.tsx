// Creates a webhook, and shows its secret once.

import { useState } from 'preact/hooks';
import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button, Copyable, CopyButton } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { useDomain } from '../domain/domain-here.ts';
import { VERIFY_EXAMPLE } from './verify-example.ts';

type Webhook = Schemas['Webhook'];
const text = domainSettings.webhooks;

interface NewWebhookProps {
  readonly onClose: () => void;
  readonly onMade: (webhook: Webhook) => void;
}

/** The URL is not a draft, because it may contain a secret. */
export function NewWebhook({ onClose, onMade }: NewWebhookProps) {
  const { name } = useDomain();
  const [url, setUrl] = useState('');
  const make = useAction(async () => {
    const params = { path: { domain: name }, ...idempotent() };
    onMade(await dataOf(api.POST('/domains/{domain}/webhooks', { params, body: { url: url.trim() } })));
  });
  return (
    <FormDialog
      title={text.make}
      action={text.make}
      isBusy={make.isBusy}
      error={make.error}
      shownFields={['url']}
      onSubmit={() => void make.run()}
      onClose={onClose}
    >
      <TextField
        label={text.url}
        hint={text.urlHint}
        inputMode="url"
        placeholder="https://"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={2000}
        required
        value={url}
        problem={make.error?.of('url')}
        onInput={(event) => setUrl(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function WebhookSecret({ secret, onKept }: { readonly secret: string; readonly onKept: () => void }) {
  return (
    <Note tone="good">
      <div class="stack">
        <p role="status">
          <strong>{text.made}</strong> {text.secretOnce}
        </p>
        <Copyable text={secret} label={text.secret} />
        <details>
          <summary>{text.verify.title}</summary>
          <p>{text.verify.text}</p>
          <pre class="domain-settings-code" dir="ltr">
            {VERIFY_EXAMPLE}
          </pre>
          <CopyButton text={VERIFY_EXAMPLE} label={text.verify.example} />
        </details>
        <Button onClick={onKept}>{text.kept}</Button>
      </div>
    </Note>
  );
}

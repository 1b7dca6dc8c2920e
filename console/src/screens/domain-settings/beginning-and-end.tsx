// Enables a disabled domain, and deletes a domain.

import { useState } from 'preact/hooks';
import { api, dataOf, idempotent } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { domainPath, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField } from '../../parts/field.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';

const text = domainSettings;

export function EnableForm() {
  const { name, setDomain } = useDomain();
  const { go } = usePlace();
  const [transfer, setTransfer] = useState(false);
  const enable = useAction(async () => {
    const params = { path: { domain: name }, ...idempotent() };
    setDomain(await dataOf(api.POST('/domains/{domain}/enable', { params, body: { transfer } })));
    toast(text.enable.done);
    go(domainPath(name, 'delegation'));
  });
  const isTaken = enable.error?.code === 'domain_taken';
  return (
    <section class="card">
      <h2>{text.enable.title}</h2>
      <p>{text.enable.text}</p>
      <Failure error={enable.error} />
      {(isTaken || transfer) && (
        <CheckField
          label={text.enable.transfer}
          hint={text.enable.transferHint}
          checked={transfer}
          onChange={(event) => setTransfer(event.currentTarget.checked)}
        />
      )}
      <Button kind="main" isBusy={enable.isBusy} onClick={() => void enable.run()}>
        {text.enable.button}
      </Button>
    </section>
  );
}

export function DeleteForm() {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const remove = useAction(async () => {
    await api.DELETE('/domains/{domain}', { params: { path: { domain: name } } });
    toast(text.delete.done(domain.name_unicode));
    go('/domains');
  });
  return (
    <section class="card domain-settings-delete">
      <h2>{text.delete.title}</h2>
      <p>{text.delete.text}</p>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {text.delete.button}
      </Button>
      {isAsking && (
        <Confirm
          title={text.delete.confirm(domain.name_unicode)}
          action={words.common.delete}
          isDanger
          typed={domain.name_unicode}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => {
            remove.clear();
            setAsking(false);
          }}
        >
          <p>{text.delete.text}</p>
        </Confirm>
      )}
    </section>
  );
}

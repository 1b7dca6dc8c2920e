// Selects who serves the zone, and the preferred set of nameservers.

import { useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { domainPath, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';

const text = domainSettings;

export function ModeForm({ isClosed }: { readonly isClosed: boolean }) {
  const { name, domain, setDomain } = useDomain();
  const { go } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const isManaged = domain.dns_mode === 'managed';
  const wanted = isManaged ? 'external' : 'managed';
  const change = useAction(async () => {
    const params = { path: { domain: name } };
    setDomain(await dataOf(api.PUT('/domains/{domain}', { params, body: { dns_mode: wanted } })));
    toast(text.mode.changed);
    go(domainPath(name, 'delegation'));
  });
  const action = isManaged ? text.mode.toExternal : text.mode.toManaged;
  return (
    <section class="card">
      <h2>{text.mode.title}</h2>
      <ul class="plain domain-settings-modes">
        {(['managed', 'external'] as const).map((mode) => (
          <li key={mode} class={mode === domain.dns_mode ? 'chosen' : ''}>
            <strong>{text.mode[mode]}</strong>{' '}
            {mode === domain.dns_mode && <Badge tone="good">{text.mode.now}</Badge>}
            <p class="quiet">{text.mode[`${mode}Text`]}</p>
          </li>
        ))}
      </ul>
      <Button disabled={isClosed} onClick={() => setAsking(true)}>
        {action}
      </Button>
      {isAsking && (
        <Confirm
          title={action}
          action={action}
          isDanger={isManaged}
          isBusy={change.isBusy}
          error={change.error}
          onConfirm={() => void change.run()}
          onClose={() => {
            change.clear();
            setAsking(false);
          }}
        >
          <p>{isManaged ? text.mode.toExternalText : text.mode.toManagedText}</p>
        </Confirm>
      )}
    </section>
  );
}

/** Hidden if there is only one set or the domain is external. */
export function SetForm({ isClosed }: { readonly isClosed: boolean }) {
  const { name, domain, setDomain } = useDomain();
  const choose = useAction(async (set: readonly string[]) => {
    const params = { path: { domain: name } };
    setDomain(await dataOf(api.PUT('/domains/{domain}', { params, body: { svc_ns: [...set] } })));
    toast(text.saved);
  });
  const sets = domain.svc_ns_sets;
  if (domain.dns_mode === 'external' || sets.length < 2) return null;
  return (
    <section class="card">
      <h2>{text.set.title}</h2>
      <p class="quiet">{text.set.text}</p>
      <ul class="plain domain-settings-modes">
        {sets.map((set) => {
          const isChosen = set.join() === domain.svc_ns.join();
          return (
            <li key={set.join()} class={isChosen ? 'chosen' : ''}>
              {set.map((host) => (
                <code key={host}>{host}</code>
              ))}
              {isChosen ? (
                <Badge tone="good">{text.set.chosen}</Badge>
              ) : (
                <Button
                  disabled={isClosed}
                  isBusy={choose.isBusy}
                  aria-label={`${text.set.save}: ${words.figures.listed(set)}`}
                  onClick={() => void choose.run(set)}
                >
                  {text.set.save}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      <Failure error={choose.error} />
    </section>
  );
}

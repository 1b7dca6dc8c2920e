// The webhooks of a domain: creating, testing and deleting them. The query of the URL names the one whose deliveries are shown.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { Deliveries } from './deliveries.tsx';
import { NewWebhook, WebhookSecret } from './new-webhook.tsx';

type Webhook = Schemas['Webhook'];
const text = domainSettings.webhooks;
const MOST = 5;

export function Webhooks({ isClosed }: { readonly isClosed: boolean }) {
  const { name } = useDomain();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Webhook>();
  const loaded = useLoad(`webhooks ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/webhooks', { params: { path: { domain: name } }, signal })),
  );
  return (
    <section class="card stack" id="webhooks">
      <div>
        <h2>{text.title}</h2>
        <p class="quiet">{text.what}</p>
      </div>
      {made?.secret !== undefined && <WebhookSecret secret={made.secret} onKept={() => setMade(undefined)} />}
      <Loading of={loaded}>
        {(webhooks) => (
          <>
            {webhooks.length > 0 && (
              <ul class="plain domain-settings-webhooks">
                {webhooks.map((webhook) => (
                  <Item
                    key={webhook.id}
                    webhook={webhook}
                    isClosed={isClosed}
                    onChanged={() => void loaded.reload()}
                    onDeleted={() => {
                      if (made?.id === webhook.id) setMade(undefined);
                      void loaded.reload();
                    }}
                  />
                ))}
              </ul>
            )}
            {webhooks.length < MOST ? (
              <Button disabled={isClosed} onClick={() => setMaking(true)}>
                {text.make}
              </Button>
            ) : (
              <p class="quiet">{text.most(MOST)}</p>
            )}
          </>
        )}
      </Loading>
      {isMaking && (
        <NewWebhook
          onClose={() => setMaking(false)}
          onMade={(webhook) => {
            setMaking(false);
            setMade(webhook);
            void loaded.reload();
          }}
        />
      )}
    </section>
  );
}

interface ItemProps {
  readonly webhook: Webhook;
  readonly isClosed: boolean;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}

function Item({ webhook, isClosed, onChanged, onDeleted }: ItemProps) {
  const { id, url, answered_at: answeredAt, disabled_at: disabledAt } = webhook;
  const { name } = useDomain();
  const { query, setQuery } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const [tested, setTested] = useState<number>();
  const isOpen = query.webhook === String(id);
  const params = { path: { domain: name, id } };
  const test = useAction(async () => {
    const ordered = await dataOf(api.POST('/domains/{domain}/webhooks/{id}/test', { params }));
    setTested(ordered.delivery);
    setQuery({ webhook: String(id) });
  });
  const remove = useAction(async () => {
    await api.DELETE('/domains/{domain}/webhooks/{id}', { params });
    toast(text.deleted);
    if (isOpen) setQuery({ webhook: undefined });
    onDeleted();
  });
  return (
    <li class="stack">
      <div>
        <code>{url}</code> {disabledAt !== undefined && <Badge tone="bad">{text.disabled}</Badge>}
        <div class="quiet">
          {answeredAt === undefined ? (
            text.neverAccepted
          ) : (
            <>
              {text.accepted} <Time at={answeredAt} />
            </>
          )}
        </div>
      </div>
      {disabledAt !== undefined && (
        <Note tone="warn">
          <p>
            {text.disabledSince} <Time at={disabledAt} />
          </p>
          <p>{text.disabledText}</p>
        </Note>
      )}
      <div class="row">
        <Button
          aria-label={text.of(text.test.send, url)}
          isBusy={test.isBusy}
          disabled={isClosed}
          onClick={() => void test.run()}
        >
          {text.test.send}
        </Button>
        <Button
          aria-label={text.of(text.deliveries, url)}
          aria-expanded={isOpen}
          onClick={() => setQuery({ webhook: isOpen ? undefined : String(id) })}
        >
          {text.deliveries}
        </Button>
        <Button
          kind="danger"
          aria-label={text.of(words.common.delete, url)}
          disabled={isClosed}
          onClick={() => setAsking(true)}
        >
          {words.common.delete}
        </Button>
      </div>
      <Failure error={test.error} />
      {isOpen && (
        <div>
          <Deliveries webhook={id} tested={tested} onEnded={onChanged} />
        </div>
      )}
      {isAsking && (
        <Confirm
          title={text.deleteTitle}
          action={words.common.delete}
          isDanger
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => {
            remove.clear();
            setAsking(false);
          }}
        >
          <p>
            <code>{url}</code>
          </p>
          <p>{text.deleteText}</p>
        </Confirm>
      )}
    </li>
  );
}

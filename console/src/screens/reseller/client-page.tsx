// One client: its account, wallet and domains.

import { useState } from 'preact/hooks';
import { dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { reseller } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { ClientState } from './client-state.tsx';
import { ClientWallet } from './client-wallet.tsx';
import { resell } from './reseller-session.ts';
import { ServiceList } from './service-list.tsx';

type Client = Schemas['Client'];
const text = reseller.client;

export default function ClientPage({ id = '' }: { readonly id?: string }) {
  const clientId = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
  const loaded = useLoad(`client ${clientId}`, (signal) =>
    dataOf(resell.GET('/reseller/v1/clients/{clientId}', { params: { path: { clientId } }, signal })),
  );
  const wallet = useLoad(`client wallet ${clientId}`, (signal) =>
    dataOf(resell.GET('/reseller/v1/clients/{clientId}/wallet', { params: { path: { clientId } }, signal })),
  );
  const own = useLoad('reseller wallet', (signal) => dataOf(resell.GET('/reseller/v1/wallet', { signal })));
  const reload = () => Promise.all([loaded.reload(), wallet.reload(), own.reload()]);
  return (
    <div class="stack">
      <Link to="/reseller" class="back">
        <span aria-hidden="true">‹</span> {reseller.pages.clients}
      </Link>
      <Loading of={loaded}>
        {(client) => (
          <div class="stack" key={client.id}>
            <div class="row">
              <h2>{client.email}</h2>
              <ClientState client={client} />
            </div>
            <div class="reseller-cards">
              <About client={client} onChanged={loaded.set} />
              <ClientWallet clientId={client.id} wallet={wallet} own={own} />
            </div>
            <ServiceList clientId={client.id} onBought={() => void reload()} />
          </div>
        )}
      </Loading>
    </div>
  );
}

interface AboutProps {
  readonly client: Client;
  readonly onChanged: (client: Client) => void;
}

function About({ client, onChanged }: AboutProps) {
  const yesOrNo = (is: boolean) => (is ? words.common.yes : words.common.no);
  return (
    <section class="card stack" aria-labelledby="client-account">
      <h2 id="client-account">{text.account}</h2>
      <dl class="facts">
        <dt>{account.number}</dt>
        <dd>{client.id}</dd>
        <dt>{text.confirmed}</dt>
        <dd>{yesOrNo(client.email_confirmed)}</dd>
        <dt>{text.hasPassword}</dt>
        <dd>{yesOrNo(client.password_set)}</dd>
        <dt>{account.since}</dt>
        <dd>
          <Time at={client.created_at} />
        </dd>
      </dl>
      <NameForm client={client} onChanged={onChanged} />
      <Switch client={client} onChanged={onChanged} />
    </section>
  );
}

function NameForm({ client, onChanged }: AboutProps) {
  const before = client.name ?? '';
  const [name, setName] = useState(before);
  const save = useAction(async () => {
    const params = { path: { clientId: client.id } };
    const body = { name: name.trim() === '' ? null : name.trim() };
    onChanged(await dataOf(resell.PATCH('/reseller/v1/clients/{clientId}', { params, body })));
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
        autocomplete="off"
        maxLength={200}
        value={name}
        problem={save.error?.of('name')}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Failure error={save.error} shownFields={['name']} />
      {name !== before && (
        <Button type="submit" isBusy={save.isBusy}>
          {words.common.save}
        </Button>
      )}
    </form>
  );
}

/** Deactivates or reactivates the account. */
function Switch({ client, onChanged }: AboutProps) {
  const [isAsking, setAsking] = useState(false);
  const params = { path: { clientId: client.id } };
  const change = useAction(async () => {
    onChanged(
      await dataOf(
        client.active
          ? resell.POST('/reseller/v1/clients/{clientId}/deactivate', { params })
          : resell.POST('/reseller/v1/clients/{clientId}/activate', { params }),
      ),
    );
    setAsking(false);
  });
  if (!client.active)
    return (
      <>
        <Failure error={change.error} />
        <Button isBusy={change.isBusy} onClick={() => void change.run()}>
          {text.activate}
        </Button>
      </>
    );
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {text.deactivate}
      </Button>
      {isAsking && (
        <Confirm
          title={text.deactivateTitle(client.email)}
          action={text.deactivate}
          isDanger
          isBusy={change.isBusy}
          error={change.error}
          onConfirm={() => void change.run()}
          onClose={() => {
            change.clear();
            setAsking(false);
          }}
        >
          <p>{text.deactivateText}</p>
        </Confirm>
      )}
    </>
  );
}

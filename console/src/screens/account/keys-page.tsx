// The API keys of the account: create, show once, restrict, revoke.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { toast } from '../../app/toasts.ts';
import { Button, Copyable } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { words } from '../../words/words.ts';
import { AcmeConfig } from './acme-key.tsx';
import { NewAcmeKey } from './new-acme-key.tsx';
import { NewKey } from './new-key.tsx';

type Key = Schemas['Key'];
const text = account.keys;

export default function KeysPage() {
  const loaded = useLoad('keys', (signal) => dataOf(api.GET('/users/me/keys', { signal })));
  const [making, setMaking] = useState<'key' | 'acme'>();
  const [made, setMade] = useState<{ readonly key: Key; readonly names?: readonly string[] }>();
  const [revoked, setRevoked] = useState<Key>();
  const revoke = useAction(async (key: Key) => {
    await api.DELETE('/users/me/keys/{id}', { params: { path: { id: key.id } } });
    setRevoked(undefined);
    if (made?.key.id === key.id) setMade(undefined);
    toast(text.revoked(key.name));
    await loaded.reload();
  });
  const show = (created: NonNullable<typeof made>) => {
    setMaking(undefined);
    setMade(created);
    void loaded.reload();
  };
  return (
    <div class="stack">
      <div class="row spread">
        <p class="quiet">{text.what}</p>
        <div class="row">
          <Button onClick={() => setMaking('acme')}>{text.acme.make}</Button>
          <Button kind="main" onClick={() => setMaking('key')}>
            {text.make}
          </Button>
        </div>
      </div>
      {made?.key.key !== undefined && (
        <Note tone="good">
          <div class="stack">
            <p role="status">
              <strong>{text.made(made.key.name)}</strong> {text.once}
            </p>
            <Copyable text={made.key.key} label={text.key} />
            {made.names !== undefined && <AcmeConfig secret={made.key.key} names={made.names} />}
            <Button onClick={() => setMade(undefined)}>{text.kept}</Button>
          </div>
        </Note>
      )}
      <Loading of={loaded}>
        {(keys) =>
          keys.length === 0 ? (
            <p class="quiet">{text.none}</p>
          ) : (
            <Table<Key>
              caption={account.pages.keys}
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'name',
                  title: text.name,
                  cell: ({ name, prefix }) => (
                    <>
                      {name}
                      <div>
                        <code class="quiet">{prefix}…</code>
                      </div>
                    </>
                  ),
                  text: ({ name }) => name,
                },
                {
                  key: 'may',
                  title: text.may,
                  cell: (key) => limitsOf(key).map((limit) => <div key={limit}>{limit}</div>),
                  text: (key) => limitsOf(key).join('; '),
                },
                {
                  key: 'used',
                  title: text.used,
                  cell: ({ last_used_at }) =>
                    last_used_at === undefined ? (
                      <span class="quiet">{text.never}</span>
                    ) : (
                      <Time at={last_used_at} />
                    ),
                  text: ({ last_used_at }) => last_used_at,
                },
                {
                  key: 'ends',
                  title: text.ends,
                  cell: ({ expires_at }) =>
                    expires_at === undefined ? (
                      <span class="quiet">{text.never}</span>
                    ) : (
                      <Time at={expires_at} />
                    ),
                  text: ({ expires_at }) => expires_at,
                },
                {
                  key: 'act',
                  title: '',
                  cell: (key) => (
                    <Button
                      kind="danger"
                      aria-label={`${text.revoke} ${key.name}`}
                      onClick={() => setRevoked(key)}
                    >
                      {text.revoke}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loading>
      {making === 'key' && <NewKey onClose={() => setMaking(undefined)} onMade={(key) => show({ key })} />}
      {making === 'acme' && <NewAcmeKey onClose={() => setMaking(undefined)} onMade={show} />}
      {revoked !== undefined && (
        <Confirm
          title={text.revokeTitle(revoked.name)}
          action={text.revoke}
          isDanger
          isBusy={revoke.isBusy}
          error={revoke.error}
          onConfirm={() => void revoke.run(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          <p>{text.revokeText}</p>
        </Confirm>
      )}
    </div>
  );
}

function limitsOf({ read_only, domains, names, types }: Key): string[] {
  const { listed } = words.figures;
  return [
    read_only ? text.reads : text.writes,
    ...(domains === undefined ? [] : [`${text.domains}: ${listed(domains)}`]),
    ...(names === undefined ? [] : [`${text.names}: ${listed(names)}`]),
    ...(types === undefined ? [] : [`${text.types}: ${listed(types)}`]),
  ];
}

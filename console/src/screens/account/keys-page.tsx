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
import { words } from '../../words/words.ts';
import { NewKey } from './new-key.tsx';

type Key = Schemas['Key'];
const text = words.account.keys;

export default function KeysPage() {
  const loaded = useLoad('keys', (signal) => dataOf(api.GET('/users/me/keys', { signal })));
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Key>();
  const [revoked, setRevoked] = useState<Key>();
  const revoke = useAction(async (key: Key) => {
    await api.DELETE('/users/me/keys/{id}', { params: { path: { id: key.id } } });
    setRevoked(undefined);
    if (made?.id === key.id) setMade(undefined);
    toast(text.revoked(key.name));
    await loaded.reload();
  });
  return (
    <div class="stack">
      <div class="row spread">
        <p class="quiet">{text.what}</p>
        <Button kind="main" onClick={() => setMaking(true)}>
          {text.make}
        </Button>
      </div>
      {made?.key !== undefined && (
        <Note tone="good">
          <p>
            <strong>{text.made(made.name)}</strong> {text.once}
          </p>
          <Copyable text={made.key} label={text.key} />
          <p>
            <Button onClick={() => setMade(undefined)}>{text.kept}</Button>
          </p>
        </Note>
      )}
      <Loading of={loaded}>
        {(keys) =>
          keys.length === 0 ? (
            <p class="quiet">{text.none}</p>
          ) : (
            <Table<Key>
              caption={words.account.pages.keys}
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
      {isMaking && (
        <NewKey
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            void loaded.reload();
          }}
        />
      )}
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
  return [
    read_only ? text.reads : text.writes,
    ...(domains === undefined ? [] : [`${text.domains}: ${domains.join(', ')}`]),
    ...(names === undefined ? [] : [`${text.names}: ${names.join(', ')}`]),
    ...(types === undefined ? [] : [`${text.types}: ${types.join(', ')}`]),
  ];
}

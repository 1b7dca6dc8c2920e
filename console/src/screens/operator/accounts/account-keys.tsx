// The API keys of an account, which an operator can revoke.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { useLoad } from '../../../api/use-load.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Badge } from '../../../parts/status.tsx';
import { Table } from '../../../parts/table.tsx';
import { now, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';

type Key = components['schemas']['AdminKey'];
const say = operator.accounts;

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: Key): keyof typeof say.keyStates {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= now.value ? 'expired' : 'good';
}

const mayOf = ({ read_only, domains = [], names = [], types = [] }: Key) =>
  words.figures.listed([read_only ? say.reads : say.writes, ...domains, ...names, ...types]);

export function AccountKeys({ id }: { readonly id: number }) {
  const loaded = useLoad(`operator keys ${id}`, (signal) =>
    dataOf(admin.GET('/admin/accounts/{id}/keys', { params: { path: { id } }, signal })),
  );
  const [asked, setAsked] = useState<Key>();
  const revoke = useAction(async (key: Key) => {
    await admin.DELETE('/admin/accounts/{id}/keys/{key}', { params: { path: { id, key: key.id } } });
    setAsked(undefined);
    toast(say.revoked(key.name));
    await loaded.reload();
  });
  return (
    <section>
      <h2>{say.keys}</h2>
      <Loading of={loaded}>
        {(keys) =>
          keys.length === 0 ? (
            <p class="quiet">{say.noKeys}</p>
          ) : (
            <Table<Key>
              caption={say.keys}
              rows={keys}
              keyOf={({ id: key }) => key}
              columns={[
                { key: 'name', title: say.key.name, cell: ({ name }) => name, text: ({ name }) => name },
                {
                  key: 'prefix',
                  title: say.key.prefix,
                  cell: ({ prefix }) => <code>{prefix}</code>,
                  text: ({ prefix }) => prefix,
                },
                {
                  key: 'state',
                  title: say.key.state,
                  cell: (key) => (
                    <Badge tone={stateOf(key) === 'good' ? 'good' : ''}>{say.keyStates[stateOf(key)]}</Badge>
                  ),
                  text: (key) => say.keyStates[stateOf(key)],
                },
                { key: 'may', title: say.key.may, cell: mayOf, text: mayOf },
                {
                  key: 'used',
                  title: say.key.used,
                  cell: ({ last_used_at }) => <Time at={last_used_at} />,
                  text: ({ last_used_at }) => last_used_at,
                },
                {
                  key: 'ends',
                  title: say.key.ends,
                  cell: ({ expires_at }) => <Time at={expires_at} />,
                  text: ({ expires_at }) => expires_at,
                },
                {
                  key: 'act',
                  title: '',
                  cell: (key) =>
                    key.revoked_at === undefined ? (
                      <Button
                        kind="danger"
                        aria-label={`${say.revoke} ${key.name}`}
                        onClick={() => setAsked(key)}
                      >
                        {say.revoke}
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loading>
      {asked !== undefined && (
        <Confirm
          title={say.revokeTitle(asked.name)}
          action={say.revoke}
          isDanger
          isBusy={revoke.isBusy}
          error={revoke.error}
          onConfirm={() => void revoke.run(asked)}
          onClose={() => {
            revoke.clear();
            setAsked(undefined);
          }}
        >
          <p>{say.revokeText}</p>
        </Confirm>
      )}
    </section>
  );
}

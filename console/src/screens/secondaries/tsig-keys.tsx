// The TSIG keys of the account. The secret of a new key is shown once.

import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import type { Loaded } from '../../api/use-load.ts';
import { toast } from '../../app/toasts.ts';
import { Button, Copyable } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { secondaries } from '../../words/secondaries.ts';

const text = secondaries.keys;

export type TsigKey = Schemas['TsigKey'];

export function NewTsigKey({ made, onClose }: { readonly made: TsigKey; readonly onClose: () => void }) {
  return (
    <Note tone="good">
      <div class="stack">
        <p role="status">
          <strong>{text.made}</strong> {text.once}
        </p>
        <dl class="facts">
          <dt>{text.name}</dt>
          <dd>
            <Copyable text={made.name} label={text.nameLabel} />
          </dd>
          <dt>{text.algorithm}</dt>
          <dd>
            <code>{made.algorithm}</code>
          </dd>
          <dt>{text.secret}</dt>
          <dd>
            <Copyable text={made.secret ?? ''} label={text.secretLabel} />
          </dd>
        </dl>
        <p>
          <Button onClick={onClose}>{text.kept}</Button>
        </p>
      </div>
    </Note>
  );
}

interface TsigKeysProps {
  readonly loaded: Loaded<TsigKey[]>;
  readonly onRevoked: (key: TsigKey) => void;
}

export function TsigKeys({ loaded, onRevoked }: TsigKeysProps) {
  const [revoked, setRevoked] = useState<TsigKey>();
  const revoke = useAction(async (key: TsigKey) => {
    await api.DELETE('/tsig-keys/{id}', { params: { path: { id: key.id } } });
    setRevoked(undefined);
    onRevoked(key);
    toast(text.revoked(key.name));
    await loaded.reload();
  });
  return (
    <Loading of={loaded}>
      {(keys) =>
        keys.length > 0 && (
          <div class="stack">
            <div>
              <h2>{text.title}</h2>
              <p class="quiet">{text.what}</p>
            </div>
            <Table<TsigKey>
              caption={text.title}
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'name',
                  title: text.name,
                  cell: ({ name }) => <code>{name}</code>,
                  text: ({ name }) => name,
                },
                {
                  key: 'algorithm',
                  title: text.algorithm,
                  cell: ({ algorithm }) => algorithm,
                  text: ({ algorithm }) => algorithm,
                },
                {
                  key: 'used',
                  title: text.used,
                  cell: ({ last_used_at }) =>
                    last_used_at === null ? (
                      <span class="quiet">{text.never}</span>
                    ) : (
                      <Time at={last_used_at} />
                    ),
                  text: ({ last_used_at }) => last_used_at ?? undefined,
                },
                {
                  key: 'act',
                  title: '',
                  cell: (key) =>
                    key.in_use ? (
                      <span class="quiet">{text.inUse}</span>
                    ) : (
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
        )
      }
    </Loading>
  );
}

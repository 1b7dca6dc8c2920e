// The secondaries of a domain at other operators: what each has transferred, adding and removing them.

import { useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { person } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { secondaries as secondariesWords } from '../../words/secondaries.ts';
import { words } from '../../words/words.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { useEvery10s } from '../operator/fresh.tsx';
import { AddSecondary } from './add-secondary.tsx';
import { changeSecondaries } from './change-secondaries.ts';
import {
  lastContactOf,
  MOST_SECONDARIES,
  type Secondary,
  type SecondaryTransfers,
  serversOf,
  stateOf,
} from './secondary-wish.ts';
import { NewTsigKey, type TsigKey, TsigKeys } from './tsig-keys.tsx';

const text = secondariesWords;

const TONES = { current: 'good', behind: 'warn', unseen: '', notified: '' } as const;

interface Row extends Secondary {
  readonly serialHere: number | null;
  readonly transfers: SecondaryTransfers | undefined;
}

export default function SecondariesScreen() {
  const { name, domain } = useDomain();
  const isOwner = domain.user_id === person().user_id;
  const isClosed =
    !mayDo(domain, 'domain.settings') || domain.status === 'disabled' || domain.status === 'banned';
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<TsigKey>();
  const [removed, setRemoved] = useState<Secondary>();
  const loaded = useLoad(`secondaries ${name}`, async (signal): Promise<Row[]> => {
    const params = { path: { domain: name } };
    const [{ secondaries }, transfers] = await Promise.all([
      dataOf(api.GET('/domains/{domain}/secondaries', { params, signal })),
      dataOf(api.GET('/domains/{domain}/transfers', { params, signal })),
    ]);
    return secondaries.map((secondary) => ({
      ...secondary,
      serialHere: transfers.serial,
      transfers: transfers.secondaries.find(({ id }) => id === secondary.id),
    }));
  });
  const keys = useLoad(
    `tsig keys ${isOwner}`,
    async (signal): Promise<TsigKey[]> => (isOwner ? dataOf(api.GET('/tsig-keys/', { signal })) : []),
  );
  useEvery10s(loaded.reload, loaded.data?.length !== 0);
  const reload = () => Promise.all([loaded.reload(), keys.reload()]);
  const remove = useAction(async ({ id }: Secondary) => {
    await changeSecondaries(name, (before) => before.filter((each) => each.id !== id));
    setRemoved(undefined);
    toast(text.removed);
    await reload();
  });
  const keyOf = ({ tsig_key: id }: Secondary) => {
    if (id === null) return text.noKey;
    if (keys.data === undefined) return '—';
    return keys.data.find((key) => key.id === id)?.name ?? (isOwner ? text.revokedKey : text.ownersKey);
  };
  const titleOf = (secondary: Secondary) =>
    [...serversOf(secondary), ...secondary.networks][0] ?? keyOf(secondary);
  return (
    <div class="stack">
      {domain.served !== 'full' && (
        <Note tone="warn">
          <p>{domain.dns_mode === 'external' ? text.external : text.notServed}</p>
        </Note>
      )}
      {made !== undefined && <NewTsigKey made={made} onClose={() => setMade(undefined)} />}
      <Loading of={loaded}>
        {(rows) => (
          <>
            {rows.length === 0 ? (
              <Empty title={text.none}>
                <p>{text.what}</p>
              </Empty>
            ) : (
              <Table<Row>
                caption={words.domain.pages.secondaries}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    key: 'server',
                    title: text.columns.server,
                    cell: (row) => (
                      <>
                        {serversOf(row).map((server) => (
                          <div key={server}>
                            <code>{server}</code>
                          </div>
                        ))}
                        <div class="quiet">{text.may(row)}</div>
                      </>
                    ),
                    text: (row) => [...serversOf(row), text.may(row)].join(' '),
                  },
                  {
                    key: 'key',
                    title: text.key,
                    cell: (row) => keyOf(row),
                    text: (row) => keyOf(row),
                  },
                  {
                    key: 'state',
                    title: text.columns.state,
                    cell: ({ transfers }) => {
                      const state = stateOf(transfers);
                      return (
                        <>
                          <Badge tone={TONES[state]}>{text.states[state]}</Badge>
                          {state === 'behind' && typeof transfers?.lag_seconds === 'number' && (
                            <div class="quiet">{text.lag(transfers.lag_seconds)}</div>
                          )}
                        </>
                      );
                    },
                    text: ({ transfers }) => text.states[stateOf(transfers)],
                  },
                  {
                    key: 'here',
                    title: text.columns.here,
                    isNumber: true,
                    cell: ({ serialHere }) => serialHere ?? '—',
                    text: ({ serialHere }) => serialHere ?? undefined,
                  },
                  {
                    key: 'there',
                    title: text.columns.there,
                    isNumber: true,
                    cell: ({ transfers }) => transfers?.served_serial ?? '—',
                    text: ({ transfers }) => transfers?.served_serial ?? undefined,
                  },
                  {
                    key: 'contact',
                    title: text.columns.contact,
                    cell: ({ transfers }) => <Time at={transfers && lastContactOf(transfers)} />,
                    text: ({ transfers }) => transfers && lastContactOf(transfers),
                  },
                  {
                    key: 'error',
                    title: text.columns.error,
                    cell: ({ transfers }) => transfers?.error ?? '—',
                    text: ({ transfers }) => transfers?.error ?? undefined,
                  },
                  {
                    key: 'act',
                    title: '',
                    cell: (row) =>
                      !isClosed && (
                        <Button
                          kind="danger"
                          aria-label={`${text.remove} ${titleOf(row)}`}
                          onClick={() => setRemoved(row)}
                        >
                          {text.remove}
                        </Button>
                      ),
                  },
                ]}
              />
            )}
            {!isClosed && rows.length < MOST_SECONDARIES && (
              <Button kind="main" onClick={() => setAdding(true)}>
                {text.add}
              </Button>
            )}
          </>
        )}
      </Loading>
      {isOwner && (
        <TsigKeys
          loaded={keys}
          onRevoked={({ id }) => {
            if (made?.id === id) setMade(undefined);
          }}
        />
      )}
      {isAdding && (
        <AddSecondary
          keys={isOwner ? (keys.data ?? []) : undefined}
          onKeyMade={(key) => {
            setMade(key);
            keys.set([key, ...(keys.data ?? [])]);
          }}
          onDone={() => {
            setAdding(false);
            toast(text.added);
            void reload();
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {removed !== undefined && (
        <Confirm
          title={text.removeTitle(titleOf(removed))}
          action={text.remove}
          isDanger
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(removed)}
          onClose={() => setRemoved(undefined)}
        >
          <p>{text.removeText}</p>
        </Confirm>
      )}
    </div>
  );
}

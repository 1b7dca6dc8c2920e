// The machine tokens of the reseller: creating, showing once, revoking.

import { useState } from 'preact/hooks';
import { dataOf, type Schemas } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { useDraft } from '../../app/drafts.ts';
import { toast } from '../../app/toasts.ts';
import { Button, Copyable } from '../../parts/button.tsx';
import { Confirm, FormDialog } from '../../parts/dialog.tsx';
import { Empty, Note } from '../../parts/failure.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { now, Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { domains } from '../../words/domains.ts';
import { reseller } from '../../words/reseller.ts';
import { endOfKey, KEY_DAYS } from '../account/key-wish.ts';
import { resell } from './reseller-session.ts';
import { tokenState } from './service-terms.ts';

type Token = Schemas['ResellerToken'];
const TONES = { active: 'good', expired: '', revoked: '' } as const;
const NOTHING = { name: '', days: '365' };
const text = reseller.tokens;

export default function TokensPage() {
  const loaded = useLoad('reseller tokens', (signal) =>
    dataOf(resell.GET('/reseller/v1/tokens', { signal })),
  );
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Token>();
  const [revoked, setRevoked] = useState<Token>();
  const revoke = useAction(async ({ id, name }: Token) => {
    await resell.DELETE('/reseller/v1/tokens/{id}', { params: { path: { id } } });
    setRevoked(undefined);
    if (made?.id === id) setMade(undefined);
    toast(text.revoked(name));
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
      {made?.token !== undefined && (
        <Note tone="good">
          <div class="stack">
            <p role="status">
              <strong>{text.made(made.name)}</strong> {account.keys.once}
            </p>
            <Copyable text={made.token} label={text.token} />
            <Button onClick={() => setMade(undefined)}>{account.keys.kept}</Button>
          </div>
        </Note>
      )}
      <Loading of={loaded}>
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title={text.none} />
          ) : (
            <TokenTable rows={tokens} onRevoke={setRevoked} />
          )
        }
      </Loading>
      {isMaking && (
        <NewToken
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMaking(false);
            setMade(token);
            void loaded.reload();
          }}
        />
      )}
      {revoked !== undefined && (
        <Confirm
          title={text.revokeTitle(revoked.name)}
          action={account.keys.revoke}
          isDanger
          isBusy={revoke.isBusy}
          error={revoke.error}
          onConfirm={() => void revoke.run(revoked)}
          onClose={() => {
            revoke.clear();
            setRevoked(undefined);
          }}
        >
          <p>{text.revokeText}</p>
        </Confirm>
      )}
    </div>
  );
}

interface TokenTableProps {
  readonly rows: readonly Token[];
  readonly onRevoke: (token: Token) => void;
}

function TokenTable({ rows, onRevoke }: TokenTableProps) {
  return (
    <Table<Token>
      caption={reseller.pages.tokens}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: account.keys.name,
          cell: ({ name, key_id }) => (
            <>
              {name}
              <div>
                <code class="quiet">rsl_{key_id}_…</code>
              </div>
            </>
          ),
          text: ({ name }) => name,
        },
        {
          key: 'state',
          title: domains.columns.status,
          cell: (token) => {
            const state = tokenState(token, now.value);
            return <Badge tone={TONES[state]}>{text.states[state]}</Badge>;
          },
          text: (token) => tokenState(token, now.value),
        },
        {
          key: 'used',
          title: account.keys.used,
          cell: ({ last_used_at: at }) => <TimeOrNever at={at} />,
          text: ({ last_used_at: at }) => at ?? undefined,
        },
        {
          key: 'ends',
          title: account.keys.ends,
          cell: ({ expires_at: at }) => <TimeOrNever at={at} />,
          text: ({ expires_at: at }) => at ?? undefined,
        },
        {
          key: 'act',
          title: '',
          cell: (token) =>
            token.status === 'revoked' ? null : (
              <Button
                kind="danger"
                aria-label={text.of(account.keys.revoke, token.name)}
                onClick={() => onRevoke(token)}
              >
                {account.keys.revoke}
              </Button>
            ),
        },
      ]}
    />
  );
}

function TimeOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <span class="quiet">{account.keys.never}</span> : <Time at={at} />;
}

interface NewTokenProps {
  readonly onClose: () => void;
  readonly onMade: (token: Token) => void;
}

function NewToken({ onClose, onMade }: NewTokenProps) {
  const [wish, setWish, dropWish] = useDraft('new-reseller-token', NOTHING);
  const make = useAction(async () => {
    const end = endOfKey(wish.days, serverNowMs());
    const body = { name: wish.name.trim(), ...(end !== undefined && { expires_at: end }) };
    const token = await dataOf(resell.POST('/reseller/v1/tokens', { body }));
    dropWish();
    onMade(token);
  });
  return (
    <FormDialog
      title={text.make}
      action={text.make}
      isBusy={make.isBusy}
      error={make.error}
      shownFields={['name', 'expires_at']}
      onSubmit={() => void make.run()}
      onClose={onClose}
    >
      <TextField
        label={account.keys.for}
        hint={text.forHint}
        maxLength={100}
        required
        value={wish.name}
        problem={make.error?.of('name')}
        onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
      />
      <SelectField
        label={account.keys.ends}
        value={wish.days}
        problem={make.error?.of('expires_at')}
        onChange={(event) => setWish({ ...wish, days: event.currentTarget.value })}
        choices={[
          ...KEY_DAYS.map((days) => ({ value: String(days), label: account.keys.days(days) })),
          { value: '', label: account.keys.never },
        ]}
      />
    </FormDialog>
  );
}

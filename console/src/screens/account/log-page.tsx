// The security log: actions of the account and on the account.

import { api, type Schemas } from '../../api/client.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { usePlace } from '../../app/place.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { changedFields } from './changed-fields.ts';

type Entry = Schemas['AuditEntry'];
const AT_ONCE = 50;
/** The events to check after a suspected break-in. */
const KINDS = {
  'sign-in': 'session.begin,session.fail',
  account:
    'account.email,account.ask_email,account.password,account.reset_password,account.enable_otp,account.disable_otp',
  keys: 'key.create,key.revoke',
} as const;
type Kind = keyof typeof KINDS;
const text = account.log;

export default function LogPage() {
  const { query, setQuery } = usePlace();
  const kind = (Object.keys(KINDS) as Kind[]).find((each) => each === query.kind);
  const pages = usePages(`my log ${kind ?? ''}`, (cursor, signal) =>
    pageOf(
      api.GET('/users/me/audit', {
        params: {
          query: { limit: AT_ONCE, ...(cursor && { cursor }), ...(kind && { action: KINDS[kind] }) },
        },
        signal,
      }),
    ),
  );
  return (
    <div class="stack">
      <div class="account-narrow">
        <SelectField
          label={text.show}
          value={kind ?? ''}
          onChange={(event) => setQuery({ kind: event.currentTarget.value })}
          choices={[
            { value: '', label: text.all },
            ...(Object.keys(KINDS) as Kind[]).map((value) => ({ value, label: text.kinds[value] })),
          ]}
        />
      </div>
      <Loading of={pages.loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">{text.none}</p>
          ) : (
            <Table<Entry>
              caption={account.pages.log}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { key: 'at', title: text.at, cell: ({ at }) => <Time at={at} />, text: ({ at }) => at },
                {
                  key: 'what',
                  title: text.what,
                  cell: ({ action }) =>
                    action === 'session.fail' ? (
                      <Badge tone="bad">{text.actions[action]}</Badge>
                    ) : (
                      sayAction(action)
                    ),
                  text: ({ action }) => sayAction(action),
                },
                {
                  key: 'on',
                  title: text.on,
                  cell: (entry) => (
                    <>
                      {nameOf(entry)}
                      {changedFields(entry.before, entry.after).map((line) => (
                        <span class="account-change quiet" key={line}>
                          {line}
                        </span>
                      ))}
                    </>
                  ),
                  text: nameOf,
                },
                {
                  key: 'from',
                  title: text.from,
                  cell: ({ actor }) => actor.address ?? text.actors[actor.kind],
                  text: ({ actor }) => actor.address ?? actor.kind,
                },
              ]}
            />
          )
        }
      </Loading>
      <More of={pages} />
    </div>
  );
}

/** Omits the name of the person's own account. */
function nameOf({ target }: Entry): string | undefined {
  if (target.name !== undefined) return target.name;
  return target.kind === 'account' || target.id === undefined ? undefined : `${target.kind} ${target.id}`;
}

function sayAction(action: string): string {
  return (text.actions as Readonly<Record<string, string>>)[action] ?? action;
}

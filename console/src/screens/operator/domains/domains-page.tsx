// The domains of all accounts.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin } from '../../../api/client.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link, usePlace } from '../../../app/place.tsx';
import { Button } from '../../../parts/button.tsx';
import { Badge, StatusBadge } from '../../../parts/status.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { domains } from '../../../words/domains.ts';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { ChoiceFilter, ID, idIn, oneOf, TextFilter } from '../filters.tsx';
import { AT_ONCE, WatchedList } from '../watched-list.tsx';
import { RestoreDomain } from './restore-domain.tsx';

type Row = components['schemas']['AdminDomain'];
const say = operator.domains;
const STATUSES = ['pending', 'unverified', 'active', 'moved', 'disabled', 'banned'] as const;
const MODES = ['managed', 'external'] as const;
const SORTS = ['name', '-name', '-created_at', 'created_at', 'status', 'next_check_at'] as const;

export default function DomainsPage() {
  const { query } = usePlace();
  const [restored, setRestored] = useState<Row>();
  const wish = {
    search: query.search,
    status: oneOf(query.status, STATUSES),
    dns_mode: oneOf(query.mode, MODES),
    user: idIn(query.user),
    deleted: query.deleted === 'true' ? true : undefined,
    sort: oneOf(query.sort, SORTS),
  };
  const pages = usePages<Row>(`operator domains ${JSON.stringify(wish)}`, (cursor, signal) =>
    pageOf(admin.GET('/admin/domains', { params: { query: { ...wish, limit: AT_ONCE, cursor } }, signal })),
  );
  return (
    <>
      <WatchedList<Row>
        title={words.frame.operatorPages.domains}
        pages={pages}
        keyOf={({ id }) => id}
        none={{ title: say.none, text: say.noneText }}
        filterNames={['search', 'status', 'mode', 'user', 'deleted']}
        filters={
          <>
            <TextFilter name="search" type="search" label={operator.search} hint={say.searchHint} />
            <ChoiceFilter
              name="status"
              label={say.filters.status}
              choices={STATUSES.map((status) => [status, words.statuses[status]])}
            />
            <ChoiceFilter
              name="mode"
              label={say.filters.mode}
              choices={MODES.map((mode) => [mode, domains.modes[mode]])}
            />
            <TextFilter
              name="user"
              label={operator.accountNumber}
              hint={operator.audit.filters.number}
              pattern={ID}
            />
            <ChoiceFilter
              name="deleted"
              label={say.filters.deleted}
              first={say.there}
              choices={[['true', say.gone]]}
            />
            <ChoiceFilter
              name="sort"
              label={say.filters.sort}
              first={domains.sorts.name}
              choices={SORTS.filter((sort) => sort !== 'name').map((sort) => [sort, domains.sorts[sort]])}
            />
          </>
        }
        columns={[
          {
            key: 'name',
            title: say.columns.name,
            cell: ({ id, name_unicode, deleted_at }) =>
              deleted_at === undefined ? (
                <Link to={`/operator/domains/${id}`}>{name_unicode}</Link>
              ) : (
                name_unicode
              ),
            text: ({ name }) => name,
          },
          {
            key: 'status',
            title: say.columns.status,
            cell: (row) => <Standing row={row} />,
            text: ({ status }) => status,
          },
          {
            key: 'owner',
            title: say.columns.owner,
            cell: ({ user_id, user_email }) => <Link to={`/operator/accounts/${user_id}`}>{user_email}</Link>,
            text: ({ user_email }) => user_email,
          },
          {
            key: 'mode',
            title: say.columns.mode,
            cell: ({ dns_mode }) => domains.modes[dns_mode],
            text: ({ dns_mode }) => dns_mode,
          },
          {
            key: 'plan',
            title: say.columns.plan,
            cell: ({ subscription }) => subscription?.plan.name ?? <span class="quiet">{say.noPlan}</span>,
            text: ({ subscription }) => subscription?.plan.slug,
          },
          {
            key: 'findings',
            title: say.columns.findings,
            isNumber: true,
            cell: ({ findings }) => count(findings.length),
            text: ({ findings }) => findings.length,
          },
          {
            key: 'next',
            title: say.columns.next,
            cell: ({ deleted_at, next_check_at }) =>
              deleted_at === undefined ? <Time at={next_check_at} /> : null,
            text: ({ next_check_at }) => next_check_at,
          },
          {
            key: 'added',
            title: say.columns.added,
            cell: (row) =>
              row.deleted_at === undefined ? (
                <Time at={row.created_at} />
              ) : (
                <Button aria-label={`${say.restore} ${row.name_unicode}`} onClick={() => setRestored(row)}>
                  {say.restore}
                </Button>
              ),
            text: ({ created_at }) => created_at,
          },
        ]}
      />
      {restored !== undefined && (
        <RestoreDomain
          id={restored.id}
          name={restored.name_unicode}
          onDone={() => void pages.loaded.reload()}
          onClose={() => setRestored(undefined)}
        />
      )}
    </>
  );
}

function Standing({ row }: { readonly row: Row }) {
  if (row.deleted_at !== undefined) {
    return (
      <span class="quiet">
        {say.deletedAt} <Time at={row.deleted_at} />
      </span>
    );
  }
  return (
    <>
      <StatusBadge status={row.status} /> {row.suspended && <Badge tone="bad">{say.suspended}</Badge>}
    </>
  );
}

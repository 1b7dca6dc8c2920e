// Lists all accounts, and creates accounts.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin } from '../../../api/client.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link, usePlace } from '../../../app/place.tsx';
import { Button } from '../../../parts/button.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { ChoiceFilter, idIn, oneOf, TextFilter } from '../filters.tsx';
import { AT_ONCE, WatchedList } from '../watched-list.tsx';
import { AccountBadges } from './account-badges.tsx';
import { NewAccount } from './new-account.tsx';

type Row = components['schemas']['AdminAccount'];
const say = operator.accounts;
const STATUSES = ['active', 'inactive'] as const;
const ROLES = ['admin', 'reseller', 'client', 'customer'] as const;
const SORTS = ['-created_at', 'created_at', 'email', '-email'] as const;

export default function AccountsPage() {
  const { query } = usePlace();
  const [isMaking, setMaking] = useState(false);
  const wish = {
    search: query.search,
    status: oneOf(query.status, STATUSES),
    role: oneOf(query.role, ROLES),
    provider: idIn(query.provider),
    sort: oneOf(query.sort, SORTS),
  };
  const pages = usePages<Row>(`operator accounts ${JSON.stringify(wish)}`, (cursor, signal) =>
    pageOf(admin.GET('/admin/accounts', { params: { query: { ...wish, limit: AT_ONCE, cursor } }, signal })),
  );
  return (
    <>
      <WatchedList<Row>
        title={words.frame.operatorPages.accounts}
        actions={
          <Button kind="main" onClick={() => setMaking(true)}>
            {say.make}
          </Button>
        }
        pages={pages}
        keyOf={({ id }) => id}
        none={{ title: say.none, text: say.noneText }}
        filterNames={['search', 'status', 'role', 'provider']}
        filters={
          <>
            <TextFilter name="search" type="search" label={operator.search} hint={say.searchHint} />
            <ChoiceFilter
              name="status"
              label={say.filters.status}
              choices={STATUSES.map((status) => [status, say.statuses[status]])}
            />
            <ChoiceFilter
              name="role"
              label={say.filters.role}
              choices={ROLES.map((role) => [role, say.roles[role]])}
            />
            <ChoiceFilter
              name="sort"
              label={say.filters.sort}
              first={say.sorts['-created_at']}
              choices={SORTS.slice(1).map((sort) => [sort, say.sorts[sort]])}
            />
          </>
        }
        columns={[
          {
            key: 'email',
            title: say.columns.email,
            cell: ({ id, email }) => <Link to={`/operator/accounts/${id}`}>{email}</Link>,
            text: ({ email }) => email,
          },
          {
            key: 'name',
            title: say.columns.name,
            cell: ({ name }) => name ?? '—',
            text: ({ name }) => name,
          },
          {
            key: 'rights',
            title: say.columns.rights,
            cell: (account) => <AccountBadges account={account} />,
            text: ({ admin: isAdmin, reseller, active }) =>
              [isAdmin && say.rights.admin, reseller && say.rights.reseller, !active && say.rights.inactive]
                .filter(Boolean)
                .join(' '),
          },
          {
            key: 'plan',
            title: say.columns.plan,
            cell: ({ plan }) => plan ?? '—',
            text: ({ plan }) => plan,
          },
          {
            key: 'domains',
            title: say.columns.domains,
            isNumber: true,
            cell: ({ domains }) => count(domains),
            text: ({ domains }) => domains,
          },
          {
            key: 'created',
            title: say.columns.created,
            cell: ({ created_at }) => <Time at={created_at} />,
            text: ({ created_at }) => created_at,
          },
        ]}
      />
      {isMaking && <NewAccount onClose={() => setMaking(false)} />}
    </>
  );
}

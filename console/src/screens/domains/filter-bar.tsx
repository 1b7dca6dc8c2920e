// Filters and order of the list. The search waits until the person pauses; other filters apply immediately.

import { useEffect, useState } from 'preact/hooks';
import { usePlace } from '../../app/place.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { FINDINGS, MODES, ROLES, SORTS, STATUSES } from './domain-query.ts';

const REST_MS = 200;
/** A changed list starts at its first page. */
const FIRST_PAGE = { cursor: undefined, page: undefined };

export function FilterBar() {
  const { query, setQuery } = usePlace();
  const [search, setSearch] = useState(query.search ?? '');
  useEffect(() => setSearch(query.search ?? ''), [query.search]);
  useEffect(() => {
    if (search === (query.search ?? '')) return;
    const timer = setTimeout(() => setQuery({ search, ...FIRST_PAGE }), REST_MS);
    return () => clearTimeout(timer);
  }, [search]);
  const choose = (filter: string) => (event: { currentTarget: HTMLSelectElement }) =>
    setQuery({ [filter]: event.currentTarget.value, ...FIRST_PAGE });
  const { filters, statuses, modes, sought, roles, sorts } = domains;
  return (
    <search class="domains-filters">
      <TextField
        label={filters.search}
        type="search"
        placeholder={filters.searchHint}
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <SelectField
        label={filters.status}
        value={query.status ?? ''}
        onChange={choose('status')}
        choices={[
          { value: '', label: filters.all },
          { value: 'open', label: statuses.open },
          ...STATUSES.map((value) => ({ value, label: words.statuses[value] })),
        ]}
      />
      <SelectField
        label={filters.mode}
        value={query.mode ?? ''}
        onChange={choose('mode')}
        choices={[
          { value: '', label: filters.all },
          ...MODES.map((value) => ({ value, label: modes[value] })),
        ]}
      />
      <SelectField
        label={filters.finding}
        value={query.finding ?? ''}
        onChange={choose('finding')}
        choices={[
          { value: '', label: filters.all },
          ...FINDINGS.map((value) => ({ value, label: sought[value] })),
        ]}
      />
      <SelectField
        label={filters.role}
        value={query.role ?? ''}
        onChange={choose('role')}
        choices={[
          { value: '', label: filters.all },
          ...ROLES.map((value) => ({ value, label: roles[value] })),
        ]}
      />
      <SelectField
        label={filters.sort}
        value={query.sort ?? 'name'}
        onChange={choose('sort')}
        choices={SORTS.map((value) => ({ value, label: sorts[value] }))}
      />
    </search>
  );
}

// Filters of the records, and actions on all of them.

import { useEffect, useState } from 'preact/hooks';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { records } from '../../words/records.ts';
import { words } from '../../words/words.ts';
import { ExportButton } from './export-button.tsx';
import { MoreMenu } from './more-menu.tsx';
import { type Filter, isFiltering, NO_FILTER } from './rows.ts';
import { typesToFilter } from './typed.ts';

/** The filter is in the URL. */
export function useFilter(): [Filter, (filter: Filter) => void] {
  const { query, setQuery } = usePlace();
  const proxied = query.proxied === 'yes' || query.proxied === 'no' ? query.proxied : '';
  const filter: Filter = {
    text: query.q ?? '',
    type: query.type ?? '',
    proxied,
    isChangedOnly: query.changed === 'yes',
  };
  const set = (next: Filter) =>
    setQuery({
      q: next.text,
      type: next.type,
      proxied: next.proxied,
      changed: next.isChangedOnly ? 'yes' : '',
    });
  return [filter, set];
}

interface ToolbarProps {
  readonly domain: string;
  readonly canEdit: boolean;
  readonly hasChanges: boolean;
  readonly filter: Filter;
  readonly setFilter: (filter: Filter) => void;
  readonly shown: number;
  readonly all: number;
  readonly typesThere: ReadonlySet<string>;
  readonly onAdd: () => void;
  readonly onCopy: () => void;
}

const TYPING_MS = 120;

export function Toolbar({
  domain,
  canEdit,
  hasChanges,
  filter,
  setFilter,
  shown,
  all,
  typesThere,
  onAdd,
  onCopy,
}: ToolbarProps) {
  const say = records;
  const [text, setText] = useState(filter.text);
  useEffect(() => setText(filter.text), [filter.text]);
  useEffect(() => {
    if (text === filter.text) return;
    const timer = setTimeout(() => setFilter({ ...filter, text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="rec-tools">
      <div class="row rec-filters">
        <input
          type="search"
          aria-label={say.search}
          placeholder={say.search}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select
          aria-label={say.filterType}
          value={filter.type}
          onChange={(event) => setFilter({ ...filter, type: event.currentTarget.value })}
        >
          <option value="">{say.allTypes}</option>
          {typesToFilter(typesThere, filter.type).map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
        <select
          aria-label={say.filterProxied}
          value={filter.proxied}
          onChange={(event) =>
            setFilter({ ...filter, proxied: event.currentTarget.value as Filter['proxied'] })
          }
        >
          <option value="">{say.proxiedOrNot}</option>
          <option value="yes">{say.proxied}</option>
          <option value="no">{say.notProxied}</option>
        </select>
        {(hasChanges || filter.isChangedOnly) && (
          <label class="rec-changed">
            <input
              type="checkbox"
              checked={filter.isChangedOnly}
              onChange={(event) => setFilter({ ...filter, isChangedOnly: event.currentTarget.checked })}
            />{' '}
            {say.changedOnly}
          </label>
        )}
        <span class="quiet" role="status">
          {isFiltering(filter) ? say.shownOf(shown, all) : say.records(all)}
        </span>
        {isFiltering(filter) && (
          <Button kind="bare" onClick={() => setFilter(NO_FILTER)}>
            {say.clearFilter}
          </Button>
        )}
      </div>
      <div class="row rec-tool-actions">
        <MoreMenu label={say.more}>
          {canEdit && (
            <>
              <Link to={domainPath(domain, 'records/import')} class="button bare">
                {say.importLink}
              </Link>
              <Link to={domainPath(domain, 'records/email')} class="button bare">
                {say.emailLink}
              </Link>
              <Link to={domainPath(domain, 'records/templates')} class="button bare">
                {say.templateLink}
              </Link>
              <Link to={domainPath(domain, 'records/scan')} class="button bare">
                {say.scanLink}
              </Link>
            </>
          )}
          <ExportButton domain={domain} />
          {shown > 0 && (
            <Button kind="bare" onClick={onCopy}>
              {words.copy.table}
            </Button>
          )}
        </MoreMenu>
        {canEdit && (
          <Button kind="main" onClick={onAdd}>
            {say.add}
          </Button>
        )}
      </div>
    </div>
  );
}

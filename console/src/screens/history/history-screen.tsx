// All changes of a domain, newest first, with actor, address, and old and new values.

import './history.css';
import '../records/records.css';
import { useMemo, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { history } from '../../words/history.ts';
import { records } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { differencesOfChange } from '../records/diff.ts';
import { DiffList } from '../records/diff-list.tsx';
import { type Change, ChangeHead, RuleLines } from './change-summary.tsx';
import { type NameOf, useMemberNames } from './member-names.ts';
import { nextCursor } from './next-cursor.ts';
import { RevertButton } from './revert-button.tsx';

const PAGE = 25;
const SOURCES = [
  'api',
  'import',
  'scan',
  'revert',
  'aname',
  'acme',
  'cli',
  'update',
  'pdns',
  'status',
] as const;

interface Page {
  readonly changes: readonly Change[];
  readonly next: string | undefined;
}

export default function HistoryScreen() {
  const { name } = useDomain();
  const { query, setQuery } = usePlace();
  const nameOf = useMemberNames(name);
  const say = history;
  const source = SOURCES.find((each) => each === query.source) ?? '';
  const load = async (cursor: string | undefined, signal?: AbortSignal): Promise<Page> => {
    const { data = [], response } = await api.GET('/domains/{domain}/changes', {
      params: {
        path: { domain: name },
        query: { limit: PAGE, ...(source !== '' && { source }), ...(cursor !== undefined && { cursor }) },
      },
      signal,
    });
    return { changes: data, next: nextCursor(response.headers.get('Link')) };
  };
  const loaded = useLoad<Page>(`changes ${name} ${source}`, (signal) => load(undefined, signal));
  const [more, setMore] = useState<{ isBusy: boolean; error?: ApiError }>({ isBusy: false });
  const loadMore = async (page: Page) => {
    setMore({ isBusy: true });
    try {
      const { changes, next } = await load(page.next);
      loaded.set({ changes: [...page.changes, ...changes], next });
      setMore({ isBusy: false });
    } catch (error) {
      setMore({ isBusy: false, error: asApiError(error) });
    }
  };
  return (
    <div class="rec">
      <div class="row">
        <label class="row">
          {say.only}
          <select value={source} onChange={(event) => setQuery({ source: event.currentTarget.value })}>
            <option value="">{say.all}</option>
            {SOURCES.map((each) => (
              <option key={each} value={each}>
                {say.sources[each]}
              </option>
            ))}
          </select>
        </label>
        <Button onClick={() => void loaded.reload()} isBusy={loaded.isLoading}>
          {say.reload}
        </Button>
      </div>
      <Loading of={loaded}>
        {(page) =>
          page.changes.length === 0 ? (
            <Empty title={say.empty}>
              <p>{say.emptyText}</p>
            </Empty>
          ) : (
            <>
              <ol class="plain his-list" aria-label={say.list}>
                {page.changes.map((change) => (
                  <Item key={change.id} domain={name} change={change} nameOf={nameOf} />
                ))}
              </ol>
              <Failure error={more.error} />
              {page.next !== undefined && (
                <Button isBusy={more.isBusy} onClick={() => void loadMore(page)}>
                  {say.older}
                </Button>
              )}
            </>
          )
        }
      </Loading>
    </div>
  );
}

/** Maximum number of lines that are shown initially. */
const AT_ONCE = 6;

function Item({
  domain,
  change,
  nameOf,
}: {
  readonly domain: string;
  readonly change: Change;
  readonly nameOf: NameOf;
}) {
  const differences = useMemo(() => differencesOfChange(change.records), [change]);
  return (
    <li class="card">
      <ChangeHead isLinked domain={domain} change={change} differences={differences} nameOf={nameOf} />
      <RuleLines change={change} />
      {differences.length > 0 && (
        <DiffList differences={differences} label={records.changeLink(change.id)} first={AT_ONCE} />
      )}
      <RevertButton change={change} />
    </li>
  );
}

// One change: old and new values, its progress to the nameservers, and reverting it.

import './history.css';
import '../records/records.css';
import { useMemo } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { exact } from '../../parts/time.tsx';
import { history } from '../../words/history.ts';
import { records } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { Arrival } from '../records/arrival.tsx';
import { differencesOfChange } from '../records/diff.ts';
import { DiffList } from '../records/diff-list.tsx';
import { type Change, ChangeHead, RuleLines } from './change-summary.tsx';
import { useMemberNames } from './member-names.ts';
import { RevertButton } from './revert-button.tsx';

export default function ChangeScreen({ change: id = '' }: { readonly change?: string }) {
  const { name } = useDomain();
  const loaded = useLoad<Change>(`change ${name} ${id}`, (signal) =>
    dataOf(
      api.GET('/domains/{domain}/changes/{id}', {
        params: { path: { domain: name, id: Number(id) } },
        signal,
      }),
    ),
  );
  return (
    <div class="rec">
      <p>
        <Link to={domainPath(name, 'history')}>{history.back}</Link>
      </p>
      <Loading of={loaded}>{(change) => <Shown key={change.id} change={change} />}</Loading>
    </div>
  );
}

function Shown({ change }: { readonly change: Change }) {
  const { name } = useDomain();
  const say = history;
  const nameOf = useMemberNames(name);
  const differences = useMemo(() => differencesOfChange(change.records), [change]);
  return (
    <>
      <h2>{records.changeLink(change.id)}</h2>
      <ChangeHead domain={name} change={change} differences={differences} nameOf={nameOf} />
      <dl class="facts">
        <dt>{say.at}</dt>
        <dd>
          <span class="ltr">{exact(change.at)}</span>
        </dd>
        <dt>{say.serial}</dt>
        <dd>{change.serial}</dd>
      </dl>
      <Arrival domain={name} changeId={change.id} />
      <RuleLines change={change} />
      {differences.length > 0 && <DiffList differences={differences} label={say.beforeAfter} />}
      <RevertButton change={change} />
    </>
  );
}

// The settings of a domain: who serves it, the edge features, webhooks, enabling and deleting it.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Failure, Note } from '../../parts/failure.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { DeleteForm, EnableForm } from './beginning-and-end.tsx';
import { DeveloperMode } from './developer-mode.tsx';
import './domain-settings.css';
import { GroupForm } from './group-form.tsx';
import { ModeForm, SetForm } from './mode-form.tsx';
import { GROUPS, type GroupName } from './settings-form.ts';
import { Webhooks } from './webhooks.tsx';

const text = domainSettings.closed;

export default function SettingsScreen() {
  const { name, domain } = useDomain();
  const plan = useLoad(`features ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/features', { params: { path: { domain: name } }, signal })),
  );
  const { status } = domain;
  const maySet = mayDo(domain, 'domain.settings');
  const isClosed = !maySet || status === 'disabled' || status === 'banned';
  return (
    <div class="stack domain-settings">
      {status === 'disabled' && <Note tone="warn">{text.disabled}</Note>}
      {status === 'banned' && <Note tone="bad">{text.banned}</Note>}
      {!maySet && <Note>{text.viewer}</Note>}
      {domain.suspended && <Note tone="warn">{text.suspended}</Note>}
      {status === 'disabled' && maySet && <EnableForm />}
      <ModeForm isClosed={isClosed} />
      <SetForm isClosed={isClosed} />
      <Failure error={plan.error} onRetry={() => void plan.reload()} />
      {(Object.keys(GROUPS) as GroupName[]).map((group) => (
        <GroupForm key={group} group={group} plan={plan.data} isClosed={isClosed} />
      ))}
      {maySet && <Webhooks isClosed={isClosed} />}
      <DeveloperMode isClosed={isClosed} />
      {mayDo(domain, 'domain.delete') && <DeleteForm />}
    </div>
  );
}

// Lists the changes of the last hour: statuses of domains, actions on the fleet, and started nodes.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { serverNowMs } from '../../../api/clock.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Link } from '../../../app/place.tsx';
import { Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { changedFields } from '../../account/changed-fields.ts';
import { AUDIT_GROUPS } from '../desk/audit-query.ts';
import { useEvery10s } from '../fresh.tsx';

const say = operator.live;
const HOUR_MS = 3_600_000;
const SHOWN = 8;
const ACTIONS = ['domain.status', ...AUDIT_GROUPS.fleet].join();

interface RecentChangesProps {
  readonly nodes: readonly components['schemas']['Node'][] | undefined;
}

export function RecentChanges({ nodes = [] }: RecentChangesProps) {
  const loaded = useLoad('operator recent changes', (signal) =>
    dataOf(admin.GET('/admin/audit', { params: { query: { action: ACTIONS, limit: SHOWN } }, signal })),
  );
  useEvery10s(loaded.reload);
  if (loaded.data === undefined) return null;
  const isRecent = (at: string) => Date.parse(at) > serverNowMs() - HOUR_MS;
  const started = nodes.filter(({ state, started_at: at }) => state !== 'left' && isRecent(at));
  const changes = loaded.data.filter(({ at }) => isRecent(at));
  return (
    <section>
      <h2>{say.recent}</h2>
      {started.length + changes.length === 0 && <p class="quiet">{say.noRecent}</p>}
      <ul class="plain ope-recent">
        {started.map(({ name, started_at: at }) => (
          <li key={name}>
            <Time at={at} /> <span>{say.started(name)}</span>
          </li>
        ))}
        {changes.map(({ id, at, action, target, domain_id: domain, before, after }) => (
          <li key={id}>
            <Time at={at} />
            <span>
              {domain === undefined ? (
                target.name
              ) : (
                <Link to={`/operator/domains/${domain}`}>{target.name ?? String(domain)}</Link>
              )}{' '}
              <code>{action}</code>{' '}
              <span class="quiet">{words.figures.listed(changedFields(before, after))}</span>
            </span>
          </li>
        ))}
      </ul>
      <Link to="/operator/audit?group=domain">{say.allRecent}</Link>
    </section>
  );
}

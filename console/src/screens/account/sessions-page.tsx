// The sessions of the account, which can be ended.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { browserOf } from './browser-of.ts';

type Session = Schemas['SessionItem'];
const text = account.sessions;

export default function SessionsPage() {
  const loaded = useLoad('sessions', (signal) => dataOf(api.GET('/users/me/sessions', { signal })));
  const end = useAction(async (id: number) => {
    await api.DELETE('/users/me/sessions/{id}', { params: { path: { id: id } } });
    toast(text.ended);
    await loaded.reload();
  });
  const endOthers = useAction(async () => {
    await api.DELETE('/users/me/sessions');
    toast(text.othersEnded);
    await loaded.reload();
  });
  return (
    <Loading of={loaded}>
      {(sessions) => (
        <div class="stack">
          <p class="quiet">{text.what}</p>
          <Failure error={end.error ?? endOthers.error} />
          <Table<Session>
            caption={account.pages.sessions}
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              {
                key: 'with',
                title: text.with,
                cell: ({ user_agent, bearer, current }) => (
                  <span title={user_agent}>
                    {bearer ? text.program : browserOf(user_agent) || text.unknown}{' '}
                    {current && <Badge tone="good">{text.this}</Badge>}
                  </span>
                ),
                text: ({ user_agent }) => user_agent,
              },
              {
                key: 'from',
                title: text.from,
                cell: ({ address }) => address ?? '—',
                text: ({ address }) => address,
              },
              {
                key: 'used',
                title: text.used,
                cell: ({ used_at }) => <Time at={used_at} />,
                text: ({ used_at }) => used_at,
              },
              {
                key: 'since',
                title: text.since,
                cell: ({ created_at }) => <Time at={created_at} />,
                text: ({ created_at }) => created_at,
              },
              {
                key: 'act',
                title: '',
                cell: ({ id, current }) =>
                  current ? null : (
                    <Button kind="danger" disabled={end.isBusy} onClick={() => void end.run(id)}>
                      {text.end}
                    </Button>
                  ),
              },
            ]}
          />
          {sessions.length > 1 && (
            <Button kind="danger" isBusy={endOthers.isBusy} onClick={() => void endOthers.run()}>
              {text.endOthers}
            </Button>
          )}
        </div>
      )}
    </Loading>
  );
}

// The invites of a domain. Sending one again creates a new link.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import type { Pages } from '../../api/use-pages.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { InviteLink } from './invite-link.tsx';

type Invite = Schemas['Invite'];

const TONES = { open: 'warn', accepted: 'good', revoked: '', expired: '' } as const;

export function Invites({ pages }: { readonly pages: Pages<Invite> }) {
  const { name } = useDomain();
  const [made, setMade] = useState<Invite>();
  const pathOf = ({ id }: Invite) => ({ params: { path: { domain: name, id } } });
  const act = useAction(async (what: 'resend' | 'revoke', invite: Invite) => {
    if (what === 'resend') {
      setMade(await dataOf(api.POST('/domains/{domain}/invites/{id}/resend', pathOf(invite))));
    } else {
      await api.DELETE('/domains/{domain}/invites/{id}', pathOf(invite));
      setMade(undefined);
      toast(words.sharing.revoked(invite.email));
    }
    await pages.loaded.reload();
  });
  return (
    <Loading of={pages.loaded}>
      {({ items }) => (
        <>
          <Failure error={act.error} />
          {made !== undefined && <InviteLink invite={made} onClose={() => setMade(undefined)} />}
          {items.length === 0 ? (
            <p class="quiet">{words.sharing.noInvites}</p>
          ) : (
            <Table<Invite>
              caption={words.sharing.invites}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'email',
                  title: words.signIn.email,
                  cell: ({ email }) => email,
                  text: ({ email }) => email,
                },
                {
                  key: 'role',
                  title: words.sharing.role,
                  cell: ({ role }) => domains.roles[role],
                  text: ({ role }) => role,
                },
                {
                  key: 'status',
                  title: domains.columns.status,
                  cell: ({ status, expires_at }) => (
                    <>
                      <Badge tone={TONES[status]}>{words.sharing.inviteStatuses[status]}</Badge>{' '}
                      {status === 'open' && (
                        <span class="quiet">
                          {words.sharing.ends} <Time at={expires_at} />
                        </span>
                      )}
                    </>
                  ),
                  text: ({ status }) => status,
                },
                {
                  key: 'act',
                  title: '',
                  cell: (invite) => (
                    <span class="row">
                      {(invite.status === 'open' || invite.status === 'expired') && (
                        <Button
                          aria-label={`${words.sharing.resend} ${invite.email}`}
                          disabled={act.isBusy}
                          onClick={() => void act.run('resend', invite)}
                        >
                          {words.sharing.resend}
                        </Button>
                      )}
                      {invite.status === 'open' && (
                        <Button
                          kind="danger"
                          aria-label={`${words.sharing.revoke} ${invite.email}`}
                          disabled={act.isBusy}
                          onClick={() => void act.run('revoke', invite)}
                        >
                          {words.sharing.revoke}
                        </Button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          )}
          <More of={pages} />
        </>
      )}
    </Loading>
  );
}

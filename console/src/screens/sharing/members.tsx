// The members of a domain and their roles. The owner and the provider cannot be changed.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import type { Loaded } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { RoleSelect } from './role-select.tsx';

type Member = Schemas['Member'];
type Role = Schemas['MemberUpdate']['role'];

interface MembersProps {
  readonly loaded: Loaded<Member[]>;
  readonly mayManage: boolean;
}

export function Members({ loaded, mayManage }: MembersProps) {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const me = person().user_id;
  const [leaving, setLeaving] = useState<Member>();
  const change = useAction(async (member: Member, role: Role) => {
    const path = { domain: name, userId: member.user_id };
    const changed = await dataOf(
      api.PATCH('/domains/{domain}/members/{userId}', { params: { path }, body: { role } }),
    );
    loaded.set((loaded.data ?? []).map((each) => (each.user_id === changed.user_id ? changed : each)));
    toast(words.sharing.roleChanged(changed.email, domains.roles[changed.role]));
  });
  const remove = useAction(async (member: Member) => {
    const path = { domain: name, userId: member.user_id };
    await api.DELETE('/domains/{domain}/members/{userId}', { params: { path } });
    setLeaving(undefined);
    if (member.user_id === me) {
      toast(words.sharing.left(domain.name_unicode));
      go('/domains');
    } else {
      toast(words.sharing.removed(member.email));
      await loaded.reload();
    }
  });
  const isFixed = ({ role, provider }: Member) => role === 'owner' || provider === true;
  return (
    <Loading of={loaded}>
      {(members) => (
        <>
          <Failure error={change.error} />
          <Table<Member>
            caption={words.sharing.members}
            rows={members}
            keyOf={({ user_id }) => user_id}
            columns={[
              {
                key: 'who',
                title: words.sharing.who,
                cell: (member) => (
                  <>
                    {member.email} {member.user_id === me && <Badge>{words.sharing.you}</Badge>}
                    {member.name !== undefined && <div class="quiet">{member.name}</div>}
                  </>
                ),
                text: ({ email }) => email,
              },
              {
                key: 'role',
                title: words.sharing.role,
                cell: (member) =>
                  mayManage && !isFixed(member) && member.user_id !== me ? (
                    <RoleSelect
                      label={words.sharing.roleOf(member.email)}
                      value={member.role as Role}
                      isBusy={change.isBusy}
                      onChoose={(role) => void change.run(member, role)}
                    />
                  ) : (
                    <>
                      {domains.roles[member.role]}
                      {member.provider === true && <div class="quiet">{words.sharing.provider}</div>}
                    </>
                  ),
                text: ({ role }) => role,
              },
              {
                key: 'since',
                title: words.sharing.since,
                cell: ({ created_at }) => <Time at={created_at} />,
                text: ({ created_at }) => created_at,
              },
              {
                key: 'act',
                title: '',
                cell: (member) =>
                  !isFixed(member) && (mayManage || member.user_id === me) ? (
                    <Button
                      kind="danger"
                      aria-label={
                        member.user_id === me ? undefined : `${words.sharing.remove} ${member.email}`
                      }
                      onClick={() => setLeaving(member)}
                    >
                      {member.user_id === me ? words.sharing.leave : words.sharing.remove}
                    </Button>
                  ) : null,
              },
            ]}
          />
          {leaving !== undefined && (
            <Confirm
              title={
                leaving.user_id === me
                  ? words.sharing.leaveTitle(domain.name_unicode)
                  : words.sharing.removeTitle(leaving.email)
              }
              action={leaving.user_id === me ? words.sharing.leave : words.sharing.remove}
              isDanger
              isBusy={remove.isBusy}
              error={remove.error}
              onConfirm={() => void remove.run(leaving)}
              onClose={() => setLeaving(undefined)}
            >
              <p>{leaving.user_id === me ? words.sharing.leaveText : words.sharing.removeText}</p>
            </Confirm>
          )}
        </>
      )}
    </Loading>
  );
}

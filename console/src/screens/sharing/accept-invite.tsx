// Shows an opened invite, with a button to accept it. Reports if the invite is for another address.

import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { domainPath, usePlace } from '../../app/place.tsx';
import { person, signOut } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/loading.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';

interface AcceptInviteProps {
  readonly token: string;
  readonly onDone: () => void;
}

export default function AcceptInvite({ token, onDone }: AcceptInviteProps) {
  const { go } = usePlace();
  const text = words.sharing.accept;
  const offer = useLoad(`invite ${token}`, (signal) =>
    dataOf(api.GET('/invites/{token}', { params: { path: { token } }, signal })),
  );
  const accept = useAction(async () => {
    const { name, name_unicode } = await dataOf(
      api.POST('/invites/{token}/accept', { params: { path: { token } } }),
    );
    toast(text.accepted(name_unicode));
    onDone();
    go(domainPath(name, 'records'));
  });
  const leave = useAction(async () => {
    await signOut();
  });
  if (offer.error?.status === 404) {
    return (
      <Note tone="warn">
        <p>{text.gone}</p>
        <Button onClick={onDone}>{words.common.goOn}</Button>
      </Note>
    );
  }
  const isForAnother = accept.error?.code === 'invite_email_mismatch';
  return (
    <div class="card stack">
      <h1>{text.title}</h1>
      <Failure error={offer.error} onRetry={() => void offer.reload()} />
      {offer.isLoading && <Skeleton />}
      {offer.data !== undefined && (
        <>
          <p>{text.offer(offer.data.domain, domains.roles[offer.data.role])}</p>
          <p class="quiet">{words.sharing.roleHints[offer.data.role]}</p>
          <dl class="facts">
            <dt>{text.invitedAs}</dt>
            <dd>{offer.data.invited_email}</dd>
            <dt>{text.signedInAs}</dt>
            <dd>{person().email}</dd>
            <dt>{text.until}</dt>
            <dd>
              <Time at={offer.data.expires_at} />
            </dd>
          </dl>
          {isForAnother ? (
            <Note tone="warn">
              <p>{text.mismatch(offer.data.invited_email, person().email)}</p>
              <Button isBusy={leave.isBusy} onClick={() => void leave.run()}>
                {text.otherAccount}
              </Button>
            </Note>
          ) : (
            <Failure error={accept.error} />
          )}
          <div class="row">
            {!isForAnother && (
              <Button kind="main" isBusy={accept.isBusy} onClick={() => void accept.run()}>
                {text.accept}
              </Button>
            )}
            <Button onClick={onDone}>{text.notNow}</Button>
          </div>
        </>
      )}
    </div>
  );
}

// Signs in with a link after a click, because mail scanners and previews open links, too.

import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { loadSession } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';
import { forgetLink } from './link.ts';

export function LinkSignIn({
  token,
  onBack,
}: {
  readonly token: string;
  readonly onBack: (told?: string) => void;
}) {
  const signIn = useAction(async () => {
    await api.POST('/auth/login', { body: { token, bearer: false } });
    forgetLink();
    await loadSession();
  });
  return (
    <div class="stack">
      <h1>{words.signIn.title}</h1>
      <p>{signIn.error?.status === 401 ? words.signIn.linkSpent : words.signIn.byLink}</p>
      {signIn.error?.status !== 401 && <Failure error={signIn.error} />}
      <div class="row spread">
        {signIn.error?.status !== 401 && (
          <Button kind="main" isBusy={signIn.isBusy} onClick={() => void signIn.run()}>
            {words.signIn.linkUse}
          </Button>
        )}
        <Button kind="bare" onClick={() => onBack()}>
          {words.signIn.back}
        </Button>
      </div>
    </div>
  );
}

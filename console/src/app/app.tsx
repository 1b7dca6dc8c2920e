// The whole page: the sign-in, or the frame with a screen.

import { useEffect } from 'preact/hooks';
import { LocationProvider } from 'preact-iso';
import { handleSessions } from '../api/send.ts';
import { Failure } from '../parts/failure.tsx';
import { publicName } from '../screens/public-check/public-place.ts';
import { SignIn } from '../screens/sign-in/sign-in.tsx';
import { words } from '../words/words.ts';
import { pageAfterSignIn } from './after-sign-in.ts';
import { BASE } from './base.ts';
import { Catching, lazyScreen } from './boundary.tsx';
import { askForPassword, endQuestion, PasswordQuestion } from './confirm-password.tsx';
import { Frame } from './frame.tsx';
import { RETURN_PATH } from './identity.ts';
import { Screens } from './screens.tsx';
import { loadSession, noteSignedOut, session } from './session.ts';
import { toast } from './toasts.ts';

handleSessions({
  onSignedOut: () => {
    noteSignedOut();
    endQuestion();
  },
  confirmPassword: askForPassword,
  tellLate: (error) => {
    if (session.value.kind === 'signed-in') toast(words.failures.late(error.message), 'bad');
  },
});

const IdentityReturn = lazyScreen(() => import('../screens/sign-in/identity-return.tsx'));
const PublicCheck = lazyScreen(() => import('../screens/public-check/public-check.tsx'));

export function App() {
  const name = publicName(location.pathname);
  if (location.pathname === RETURN_PATH) {
    return (
      <Catching path={RETURN_PATH}>
        <IdentityReturn />
      </Catching>
    );
  }
  if (name === undefined) return <Console />;
  return (
    <Catching path={name}>
      <PublicCheck name={name} />
    </Catching>
  );
}

/** Parts that require a session. */
function Console() {
  useEffect(() => {
    void loadSession();
  }, []);
  const { kind } = session.value;
  const next =
    session.value.kind === 'signed-in' ? pageAfterSignIn(location.search, session.value.person) : undefined;
  useEffect(() => {
    if (next !== undefined) location.replace(next);
  }, [next]);
  if (kind === 'unknown' || next !== undefined) return <p class="alone loading">{words.common.loading}</p>;
  if (session.value.kind === 'away') {
    return (
      <main class="alone">
        <Failure error={session.value.error} onRetry={() => void loadSession()} />
      </main>
    );
  }
  return (
    <LocationProvider scope={BASE}>
      {kind === 'signed-out' ? (
        <SignIn />
      ) : (
        <Frame>
          <Screens />
        </Frame>
      )}
      {kind === 'signed-in' && <PasswordQuestion />}
    </LocationProvider>
  );
}

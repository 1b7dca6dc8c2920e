// Shown without a session: the sign-in form, or the page of an opened link.

import { useState } from 'preact/hooks';
import { Brand } from '../../app/brand.tsx';
import { LanguagePicker } from '../../app/language-picker.tsx';
import { session } from '../../app/session.ts';
import { Note } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';
import { ForgotPassword } from './forgot-password.tsx';
import { IdentitySignIn } from './identity-sign-in.tsx';
import { Invited } from './invited.tsx';
import { forgetLink, type OpenedLink, openedLink } from './link.ts';
import { LinkSignIn } from './link-sign-in.tsx';
import { NewPassword } from './new-password.tsx';
import { PasswordSignIn } from './password-sign-in.tsx';
import { Register } from './register.tsx';

type View = 'sign-in' | 'forgot' | 'register' | OpenedLink;

export function SignIn() {
  const [view, setView] = useState<View>(() => openedLink() ?? 'sign-in');
  const [told, setTold] = useState<string>();
  const hasEnded = session.value.kind === 'signed-out' && session.value.hasEnded === true;
  const back = (text?: string) => {
    forgetLink();
    setTold(text);
    setView('sign-in');
  };
  return (
    <main class="alone stack">
      <header>
        <p class="brand large">
          <Brand />
        </p>
        <p class="quiet">{words.signIn.tagline}</p>
      </header>
      {told !== undefined && <Note tone="good">{told}</Note>}
      {hasEnded && told === undefined && (
        <div role="status">
          <Note tone="warn">{words.signIn.ended}</Note>
        </div>
      )}
      <div class="card stack">
        {view === 'sign-in' && (
          <PasswordSignIn onForgot={() => setView('forgot')} onRegister={() => setView('register')} />
        )}
        {(view === 'sign-in' || isAfterSignIn(view)) && <IdentitySignIn />}
        {view === 'forgot' && <ForgotPassword onBack={back} />}
        {view === 'register' && <Register onBack={back} />}
        {typeof view === 'object' && <ByLink link={view} onBack={back} />}
      </div>
      <LanguagePicker />
    </main>
  );
}

/** Links that are used by a signed-in person. */
function isAfterSignIn(view: View): boolean {
  return typeof view === 'object' && (view.kind === 'invite' || view.kind === 'email');
}

function ByLink({ link, onBack }: { readonly link: OpenedLink; readonly onBack: (told?: string) => void }) {
  const { kind, token } = link;
  if (kind === 'reset' || kind === 'register')
    return <NewPassword kind={kind} token={token} onDone={() => onBack(words.signIn.passwordSet)} />;
  if (kind === 'sign-in') return <LinkSignIn token={token} onBack={onBack} />;
  if (kind === 'invite') return <Invited token={token} onBack={onBack} />;
  // A new address is confirmed after the sign-in, because it belongs to an account.
  return <PasswordSignIn onForgot={() => onBack()} />;
}

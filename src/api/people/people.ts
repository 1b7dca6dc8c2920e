// What calls of people need besides the database: links, cookies, slots for passwords, and counted attempts.

import type { Database } from '../../store/postgres/database.ts';
import type { KeyBoxes } from '../../store/secrets/key-boxes.ts';
import { Attempts } from './attempts.ts';
import { CookieJar } from './cookies.ts';
import { PasswordTurns } from './passwords.ts';

export interface People {
  /** Where links lead. */
  readonly publicUrl: string;
  /** The only Origin that may write by cookie. */
  readonly origin: string;
  readonly cookies: CookieJar;
  readonly turns: PasswordTurns;
  readonly attempts: Attempts;
  readonly keyBoxes: KeyBoxes;
  /** There is a mail server: links can be mailed. */
  readonly sendsMail: boolean;
  /** Anybody may register. */
  readonly isOpen: boolean;
}

interface PeopleSettings {
  readonly publicUrl: string;
  readonly sendsMail: boolean;
  readonly registration: boolean;
}

export function openPeople(db: Database, keyBoxes: KeyBoxes, settings: PeopleSettings): People {
  const { publicUrl, sendsMail, registration } = settings;
  return {
    publicUrl,
    origin: new URL(publicUrl).origin,
    cookies: new CookieJar(publicUrl),
    turns: new PasswordTurns(),
    attempts: new Attempts(db),
    keyBoxes,
    sendsMail,
    isOpen: registration && sendsMail,
  };
}

/** Who asks, beside a credential. */
export interface Asker {
  readonly address: string;
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  readonly cookies: { readonly session: string | undefined; readonly device: string | undefined };
}

// Dependencies of calls by people besides the database: links, cookies, slots for passwords, and attempt limits.

import type { Database } from '../../store/postgres/database.ts';
import type { KeyBoxes } from '../../store/secrets/key-boxes.ts';
import { Attempts } from './attempts.ts';
import { CookieJar, type Cookies } from './cookies.ts';
import { PasswordTurns } from './passwords.ts';

export interface People {
  /** Base URL of links. */
  readonly publicUrl: string;
  /** The only Origin whose requests may write with a cookie. */
  readonly origin: string;
  readonly cookies: CookieJar;
  readonly turns: PasswordTurns;
  readonly attempts: Attempts;
  readonly keyBoxes: KeyBoxes;
  /** True if a mail server is configured, so that links can be sent by email. */
  readonly sendsMail: boolean;
  /** True if anyone may register. */
  readonly isOpen: boolean;
  /** True if operators must sign in with the identity provider, so that their passwords are refused. */
  readonly operatorsNeedProvider: boolean;
  /** True if operators must also confirm their sessions with it. */
  readonly operatorsConfirmWithProvider: boolean;
}

interface PeopleSettings {
  readonly publicUrl: string;
  readonly sendsMail: boolean;
  readonly registration: boolean;
  readonly operatorsNeedProvider: boolean;
  readonly operatorsConfirmWithProvider: boolean;
}

export function openPeople(db: Database, keyBoxes: KeyBoxes, settings: PeopleSettings): People {
  const { publicUrl, sendsMail, registration, operatorsNeedProvider, operatorsConfirmWithProvider } =
    settings;
  return {
    publicUrl,
    origin: new URL(publicUrl).origin,
    cookies: new CookieJar(publicUrl),
    turns: new PasswordTurns(),
    attempts: new Attempts(db),
    keyBoxes,
    sendsMail,
    isOpen: registration && sendsMail,
    operatorsNeedProvider,
    operatorsConfirmWithProvider,
  };
}

/** The client, apart from its credential. */
export interface Asker {
  readonly address: string;
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  readonly cookies: Cookies;
}

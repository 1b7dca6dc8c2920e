// Links that work once: to sign in, to set a new password, to register, to confirm an email. Only their hash is stored.

import { sql } from 'kysely';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/secret-text.ts';
import type { Database } from '../postgres/database.ts';

type LinkKind = 'sign-in' | 'reset' | 'register' | 'email';

/** How long a link works. */
export const LINK_MINUTES: Readonly<Record<LinkKind, number>> = {
  'sign-in': 15,
  reset: 30,
  register: 24 * 60,
  email: 24 * 60,
};
/** A link that was made this much later than now was made before the clock went back. */
const SKEW_MINUTES = 5;

interface NewLink {
  readonly kind: LinkKind;
  readonly accountId?: number;
  /** To register or to confirm. */
  readonly email?: string;
}

/** Gives the token: a secret that must not be logged or stored. */
export async function makeLink(db: Database, { kind, accountId, email }: NewLink): Promise<string> {
  const token = makeSecretText('lnk_');
  await sql`
    insert into account_links (hash, kind, account_id, email, expires_at)
    values (${hashSecret(token)}, ${kind}, ${accountId ?? null}, ${email ?? null},
      clock_timestamp() + make_interval(mins => ${LINK_MINUTES[kind]}::integer))`.execute(db);
  return token;
}

interface TakenLink {
  readonly accountId: number | null;
  readonly email: string | null;
}

/** Uses the link up. Undefined: it does not exist, was used, or is too old. */
export async function takeLink(trx: Database, kind: LinkKind, token: string): Promise<TakenLink | undefined> {
  if (!isSecretText('lnk_', token)) return undefined;
  const { rows } = await sql<TakenLink>`
    delete from account_links
    where hash = ${hashSecret(token)} and kind = ${kind} and expires_at > clock_timestamp()
      and created_at < clock_timestamp() + make_interval(mins => ${SKEW_MINUTES}::integer)
    returning account_id as "accountId", email`.execute(trx);
  return rows[0];
}

/** What was mailed before the password or the email changed ends with it. */
export async function dropLinks(trx: Database, accountId: number): Promise<void> {
  await sql`delete from account_links where account_id = ${accountId}`.execute(trx);
}

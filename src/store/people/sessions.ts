// Sessions of signed-in people. Only the hash of the token is stored. All API processes use the database's clock.

import { sql } from 'kysely';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf } from '../accounts/accounts.ts';
import { hashSecret, makeSecretText } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';

/** The token is sent in a cookie, or as `Authorization: Bearer`. */
export type Carrier = 'cookie' | 'bearer';

export interface Session {
  readonly id: number;
  readonly accountId: number;
  readonly carrier: Carrier;
  readonly createdAt: Date;
  readonly usedAt: Date;
  /** When the person last authenticated in this session: at the sign-in, or to confirm it. Null if not yet. */
  readonly authenticatedAt: Date | null;
  readonly address: string | null;
  readonly userAgent: string | null;
}

interface NewSession {
  readonly accountId: number;
  readonly carrier: Carrier;
  readonly address: string;
  readonly userAgent: string | undefined;
  /** False if sensitive changes must be confirmed first, because the person may have authenticated long ago. */
  readonly isFresh?: boolean;
}

/** A further session ends the one that was unused the longest. */
const MAX_SESSIONS = 50;
const MAX_AGENT_CHARACTERS = 200;

const COLUMNS = sql`s.id, s.account_id as "accountId", s.carrier, s.created_at as "createdAt", s.used_at as "usedAt",
  s.password_at as "authenticatedAt", s.address, s.user_agent as "userAgent"`;

/** Opens a session and returns its token. The person counts as just authenticated, unless `isFresh` is false. */
export async function openSession(trx: Database, session: NewSession): Promise<string> {
  const { accountId, carrier, address, userAgent, isFresh = true } = session;
  const token = makeSecretText('ses_');
  await sql`
    insert into sessions (account_id, hash, carrier, password_at, address, user_agent)
    values (${accountId}, ${hashSecret(token)}, ${carrier}, case when ${isFresh}::boolean then clock_timestamp() end, ${address},
      ${userAgent?.slice(0, MAX_AGENT_CHARACTERS) ?? null})`.execute(trx);
  await sql`
    delete from sessions where id in (
      select id from sessions where account_id = ${accountId} order by used_at desc, id desc offset ${MAX_SESSIONS})`.execute(
    trx,
  );
  return token;
}

export interface FoundSession {
  readonly session: Session;
  readonly account: Account;
  /** The database's time. */
  readonly now: Date;
}

/** Finds sessions by their hash in hexadecimal, including expired ones. */
export async function findSessions(
  db: Database,
  hashes: readonly Buffer[],
): Promise<Map<string, FoundSession>> {
  const { rows } = await sql<Session & { hash: Buffer; account: AccountJson; now: Date }>`
    select s.hash, ${COLUMNS}, ${ACCOUNT_JSON} as account, clock_timestamp() as now
    from sessions s join accounts a on a.id = s.account_id left join plans p on p.id = a.plan_id
    where s.hash = any(${hashes}::bytea[])`.execute(db);
  return new Map(
    rows.map(({ hash, account, now, ...session }) => [
      hash.toString('hex'),
      { session, account: accountOf(account), now },
    ]),
  );
}

/** Lists sessions, newest first. */
export async function listSessions(
  db: Database,
  accountId: number,
): Promise<(Session & { readonly now: Date })[]> {
  const { rows } = await sql<Session & { now: Date }>`
    select ${COLUMNS}, clock_timestamp() as now from sessions s where s.account_id = ${accountId} order by s.id desc`.execute(
    db,
  );
  return rows;
}

/** Records the use of a session, at most once per minute. A clock that is set back does not make it older. */
export async function touchSession(db: Database, id: number): Promise<void> {
  await sql`update sessions set used_at = clock_timestamp() where id = ${id}
    and used_at < clock_timestamp() - interval '1 minute'`.execute(db);
}

export async function recordAuthentication(db: Database, id: number): Promise<void> {
  await sql`update sessions set password_at = clock_timestamp() where id = ${id}`.execute(db);
}

/** Replaces a session's token. The old one becomes invalid immediately. Returns undefined if the session has ended. */
export async function rotateSession(trx: Database, id: number): Promise<string | undefined> {
  const token = makeSecretText('ses_');
  const { numAffectedRows } = await sql`
    update sessions set hash = ${hashSecret(token)} where id = ${id}`.execute(trx);
  return numAffectedRows === 1n ? token : undefined;
}

/** Returns false if the account has no such session. */
export async function endSession(db: Database, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from sessions where id = ${id} and account_id = ${accountId}`.execute(db);
  return numAffectedRows === 1n;
}

export async function endSessionOf(db: Database, token: string): Promise<void> {
  await sql`delete from sessions where hash = ${hashSecret(token)}`.execute(db);
}

/** Ends all sessions of an account, except the one with this id. Returns their number. */
export async function endSessions(
  db: Database,
  accountId: number,
  { except }: { readonly except?: number } = {},
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from sessions where account_id = ${accountId} and id is distinct from ${except ?? null}::bigint`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}

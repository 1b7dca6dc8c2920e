// Deletes what is over: sessions, links, browsers that were not seen for long, failures to sign in, mails that nobody sends,
// invites.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Longer than a session, or a browser's cookie, counts. */
const OLD = [
  "sessions where used_at < clock_timestamp() - interval '31 days' or created_at < clock_timestamp() - interval '91 days'",
  "account_devices where used_at < clock_timestamp() - interval '400 days'",
  'account_links where expires_at < clock_timestamp()',
  'sign_in_failures where kept_until < clock_timestamp()',
  "takeover_mails where at < clock_timestamp() - interval '1 day'",
  "mails where created_at < clock_timestamp() - interval '1 day'",
  "invites where expires_at < clock_timestamp() - interval '90 days'",
  'invite_windows where ends_at < clock_timestamp()',
];

export async function purgePeople(db: Database): Promise<void> {
  for (const old of OLD) await sql.raw(`delete from ${old}`).execute(db);
}

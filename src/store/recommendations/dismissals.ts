// What the people of a domain do not want to be told again, as long as it is about the same.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Recommendation } from '../../checks/recommendations/recommend.ts';
import type { Database } from '../postgres/database.ts';

type Dismissed = Pick<Recommendation, 'code' | 'subject'>;

/** Those that nobody dismissed, or that are about something else since. */
export async function withoutDismissed(
  db: Database,
  domainId: number,
  found: readonly Recommendation[],
): Promise<Recommendation[]> {
  if (found.length === 0) return [];
  const { rows } = await sql<{ code: string; subject: Buffer }>`
    select code, subject from dismissed_recommendations where domain_id = ${domainId}`.execute(db);
  const dismissed = new Map(rows.map(({ code, subject }) => [code, subject]));
  return found.filter((one) => dismissed.get(one.code)?.equals(digestOf(one)) !== true);
}

/** One row a code: the table grows no larger than there are codes for each domain. */
export async function dismissRecommendation(db: Database, domainId: number, one: Dismissed): Promise<void> {
  await sql`
    insert into dismissed_recommendations (domain_id, code, subject)
    values (${domainId}, ${one.code}, ${digestOf(one)})
    on conflict (domain_id, code) do update set subject = excluded.subject, at = now()`.execute(db);
}

function digestOf({ subject }: Dismissed): Buffer {
  return createHash('sha256').update(subject).digest();
}

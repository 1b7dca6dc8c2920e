// Who had a name active here last. For so long it is theirs to bring back: they are not held up as if the delegation that
// they left behind were somebody's dangling one (spec §5 "Preset delegation").

import { sql } from 'kysely';
import type { DnsMode, PresetKind } from '../zone/domain-status.ts';
import type { PublishSettings } from './answer-settings.ts';
import type { Database } from './database.ts';
import type { DomainRow } from './domain.ts';

const HELD_DAYS = 90;

/** Before a domain leaves its state, by whatever; nothing where it was not delegated to us. */
export async function saveNameHolder(
  trx: Database,
  { name, accountId, dnsMode, status, movedSince }: DomainRow,
  now: Date,
): Promise<void> {
  if (dnsMode !== 'managed' || (status !== 'active' && status !== 'moved')) return;
  const activeAt = movedSince ?? now;
  await sql`
    insert into name_holders (name, account_id, active_at) values (${name}, ${accountId}, ${activeAt})
    on conflict (name) do update set account_id = excluded.account_id, active_at = excluded.active_at`.execute(
    trx,
  );
}

export interface Entry {
  readonly nameText: string;
  readonly dnsMode: DnsMode;
  readonly accountId: number;
  /** The CLI and global admins. */
  readonly exempt: boolean;
  readonly settings: PublishSettings;
}

/** How a domain begins. With one set in all a preset delegation could not be told from an asked one. */
export async function presetAtEntry(
  trx: Database,
  { nameText, dnsMode, accountId, exempt, settings }: Entry,
): Promise<PresetKind> {
  if (dnsMode === 'external' || exempt || settings.nameserverSets.length === 1) return 'clear';
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from name_holders where name = ${nameText} and account_id = ${accountId}
      and active_at > clock_timestamp() - make_interval(days => ${HELD_DAYS}::integer)) as held`.execute(trx);
  return rows[0]?.held ? 'clear' : 'undecided';
}

export async function purgeNameHolders(db: Database): Promise<void> {
  await sql`
    delete from name_holders
    where active_at <= clock_timestamp() - make_interval(days => ${HELD_DAYS}::integer)`.execute(db);
}
